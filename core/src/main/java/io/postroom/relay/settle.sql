-- Everything up to :position has been accepted in this lane. Zero rows: the lease is lost, nothing was changed.
--   :subscription text   :lane int   :fence bigint   :position bigint
update /*schema*/lane
set position = :position
where subscription = :subscription and lane = :lane and fence = :fence and owner is not null and position <= :position
