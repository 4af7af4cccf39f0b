-- Say goodbye. A worker that still has jobs stays until they were taken away from it.
--   :id uuid
-- Index: job_running.
delete from /*schema*/worker as w
where w.id = :id and not exists (select from /*schema*/job as j where j.state = 'running' and j.worker = w.id)
