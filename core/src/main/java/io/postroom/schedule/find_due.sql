-- Lock schedules whose time has come, the longest due first, and the time it is.
--   :now timestamptz?, null outside tests   :except text[], names that are left out   :limit int
--   :patience text, milliseconds, for our own process if it freezes before the commit: PostgreSQL ends its session then
-- Locks: the rows, skipping locked ones: another node is at them. Whoever pauses one waits. Index: schedule_due.
select s.name, s.cron, s.zone, extract(epoch from s.rate) as rate, extract(epoch from s.delay) as delay, s.missed, s.overlap, s.kind, s.queue,
       s.priority, s.tenant_id, s.payload, s.headers, s.retry, extract(epoch from s.deadline) as deadline, s.next_at, s.last_at, s.last_job,
       s.paused_at, s.paused_by, s.pause_reason,
       coalesce(:now::timestamptz, clock_timestamp()) as now
from /*schema*/schedule as s
where s.paused_at is null and s.next_at <= (select coalesce(:now::timestamptz, clock_timestamp()))
  and s.name <> all (:except::text[])
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
order by s.next_at
limit :limit
for update of s skip locked
