-- Let a paused queue go on.
--   :name text
update /*schema*/job_queue
set paused_at = null, paused_by = null, pause_reason = null
where name = :name and paused_at is not null
