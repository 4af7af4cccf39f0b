-- Begin the delay of schedules whose job has ended: counted from that end, or from now if it was forgotten.
-- Index: the primary keys, job_done_id.
update /*schema*/schedule as s
set next_at = coalesce((select max(d.ended_at) from /*schema*/job_done as d where d.id = s.last_job), clock_timestamp()) + s.delay
where s.next_at is null and not exists (select from /*schema*/job as j where j.id = s.last_job)
