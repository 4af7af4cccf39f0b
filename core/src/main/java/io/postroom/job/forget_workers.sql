-- Forget workers that have been dead for long and have no jobs left.
--   :kept double precision, seconds
-- Index: job_running.
delete from /*schema*/worker as w
where w.leased_until < clock_timestamp() - make_interval(secs => :kept)
  and not exists (select from /*schema*/job as j where j.state = 'running' and j.worker = w.id)
