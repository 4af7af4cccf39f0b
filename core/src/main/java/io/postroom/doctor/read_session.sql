-- Which session of the server answers, and what time it has.
select pg_backend_pid() as pid, clock_timestamp() as now
