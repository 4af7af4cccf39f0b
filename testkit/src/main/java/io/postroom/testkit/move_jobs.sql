-- Let jobs that wait for their time be due sooner.
--   :by double precision, seconds
update /*schema*/job
set run_at = run_at - make_interval(secs => :by)
where waits is not null
