-- Put back jobs that this worker has claimed without knowing: the answer to the claim was lost. Not counted: they have not begun.
--   :worker uuid   :known bigint[]
-- For the thread that claims, while it does not. Index: job_running.
update /*schema*/job
set state = 'ready', worker = null, claimed_at = null, deadline_at = null, begun_at = null, exact = false, turn = default,
    attempt = attempt - 1, fence = fence + 1
where state = 'running' and worker = :worker and id <> all (:known::bigint[])
