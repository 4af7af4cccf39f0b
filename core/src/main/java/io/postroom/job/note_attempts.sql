-- Note attempts that did not end with the job done. For jobs whose rows are locked.
--   :ids bigint[], a hundred at most   :outcomes text[]   :durations bigint[], microseconds; null: since the claim
--   :error_classes text[]   :errors text[]   :fingerprints text[]   :workers text[]
-- Index: the primary key.
insert into /*schema*/job_attempt (job_id, attempt, fence, duration, worker, outcome, error_class, error, fingerprint)
select j.id, j.attempt, j.fence,
       coalesce(noted.duration * interval '1 microsecond', clock_timestamp() - coalesce(j.begun_at, j.claimed_at)), noted.worker,
       noted.outcome, noted.error_class, noted.error, noted.fingerprint
from (select r.id, r.attempt, r.fence, r.begun_at, r.claimed_at from /*schema*/job as r where r.id = any (:ids::bigint[])) as j
join unnest(:ids::bigint[], :outcomes::text[], :durations::bigint[], :error_classes::text[], :errors::text[], :fingerprints::text[],
            :workers::text[])
     as noted (id, outcome, duration, error_class, error, fingerprint, worker) on noted.id = j.id
