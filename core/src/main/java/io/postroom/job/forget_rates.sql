-- Forget rates that were used up long ago: no row means that nothing was used.
--   :kept double precision, seconds; longer than any limit reckons
delete from /*schema*/job_rate
where used_until < clock_timestamp() - make_interval(secs => :kept)
