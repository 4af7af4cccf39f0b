-- Sessions with a transaction open for longer than a time, the oldest first. Sessions of other roles have no times without
-- pg_read_all_stats, and do not come.
--   :seconds double precision   :limit int
-- Views of the server only.
select a.pid, coalesce(a.usename::text, '') as login, coalesce(a.application_name, '') as application, coalesce(a.state, '') as state,
       a.backend_start::text as since,
       extract(epoch from clock_timestamp() - a.xact_start)::double precision as seconds,
       extract(epoch from clock_timestamp() - a.state_change)::double precision as idle_seconds
from pg_stat_activity as a
where a.xact_start < clock_timestamp() - make_interval(secs => :seconds) and a.pid <> pg_backend_pid()
  and a.backend_type = 'client backend' and a.datname = current_database()
order by a.xact_start
limit :limit
