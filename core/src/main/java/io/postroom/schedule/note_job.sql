-- Note which job a run has enqueued, or which one kept it from that.
--   :schedule text   :fire_at timestamptz   :job_id bigint   :skipped text, a boolean
-- Index: the primary key.
update /*schema*/schedule_run
set job_id = :job_id, skipped = :skipped::boolean
where schedule = :schedule and fire_at = :fire_at
