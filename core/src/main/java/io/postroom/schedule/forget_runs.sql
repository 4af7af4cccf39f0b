-- Forget times that a schedule fired long ago.
--   :kept double precision, seconds   :limit int
-- Index: schedule_run_at.
delete from /*schema*/schedule_run
where ctid in (
    select r.ctid from /*schema*/schedule_run as r where r.at < clock_timestamp() - make_interval(secs => :kept) limit :limit
)
