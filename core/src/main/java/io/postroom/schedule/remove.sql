-- Remove a schedule. Jobs that it has enqueued stay.
--   :name text
delete from /*schema*/schedule
where name = :name
