-- Everything up to :position has been accepted in this lane or has a delivery. For a lane that is locked.
--   :subscription text   :lane int   :position bigint   :recorded bigint, the number of this record
update /*schema*/lane
set position = :position, recorded = :recorded
where subscription = :subscription and lane = :lane
