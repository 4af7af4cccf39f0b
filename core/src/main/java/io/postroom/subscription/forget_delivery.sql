-- A delivery is no more. For a lane that is locked.
--   :name text   :position bigint
delete from /*schema*/delivery
where subscription = :name and position = :position
