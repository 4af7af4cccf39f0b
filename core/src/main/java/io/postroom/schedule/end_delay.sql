-- Begin the delay of schedules whose job has ended: counted from that end, or from now if it was forgotten.
--   :now timestamptz?, null outside tests: then an end is as long before it as it is before the clock
-- Index: the primary keys, job_done_id.
update /*schema*/schedule as s
set next_at = coalesce((select max(d.ended_at) from /*schema*/job_done as d where d.id = s.last_job), clock_timestamp()) + s.delay
              + coalesce(:now::timestamptz - clock_timestamp(), interval '0')
where s.next_at is null and not exists (select from /*schema*/job as j where j.id = s.last_job)
