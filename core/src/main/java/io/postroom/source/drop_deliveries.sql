-- Drop what waits in a subscription: the broker brings it. For lanes that are locked.
--   :name text
delete from /*schema*/delivery
where subscription = :name
