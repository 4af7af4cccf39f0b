-- The attempts at a job that did not end with it done, the first one first. Index: job_attempt_job.
--   :id bigint   :limit int
select attempt, at, extract(epoch from duration) as seconds, worker, outcome, error_class, error, fingerprint
from /*schema*/job_attempt
where job_id = :id
order by at
limit :limit
