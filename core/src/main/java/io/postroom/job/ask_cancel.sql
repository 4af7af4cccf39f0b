-- Ask for a running job to be cancelled: its worker is told, and it is not tried again. For a job whose row is locked.
--   :id bigint
-- Not by the state: where the planner believes that nothing runs, it would look through all that does. Index: the primary key.
update /*schema*/job
set cancel_asked_at = coalesce(cancel_asked_at, clock_timestamp())
where id = :id and worker is not null
