-- End jobs whose rows are locked: each in its own way.
--   :ids bigint[], a hundred at most   :states text[]   :results text[], JSON or null   :error_classes text[]   :errors text[]
--   :fingerprints text[]   :refunds int[], attempts that were not made   :ended_by text
-- Index: the primary key.
with gone as (
    delete from /*schema*/job as j
    where j.id = any (:ids::bigint[])
    returning j.id, j.queue, j.kind, j.priority, j.tenant_id, j.payload, j.headers, j.run_at, j.attempt, j.retry, j.attempts_max,
              j.deadline, j.fence, j.worker, j.claimed_at, j.origin, j.created_at, j.unique_key, j.batch
)
insert into /*schema*/job_done (id, queue, kind, priority, tenant_id, payload, headers, state, run_at, attempt, retry, attempts_max, deadline,
                                fence, worker, claimed_at, origin, created_at, unique_key, batch, ended_by, result, error_class, error, fingerprint)
select gone.id, gone.queue, gone.kind, gone.priority, gone.tenant_id, gone.payload, gone.headers, told.state, gone.run_at,
       gone.attempt - told.refund, gone.retry, gone.attempts_max, gone.deadline, gone.fence, gone.worker, gone.claimed_at, gone.origin,
       gone.created_at, gone.unique_key,
       gone.batch, :ended_by, told.result::json, told.error_class, told.error, told.fingerprint
from gone
join unnest(:ids::bigint[], :states::text[], :results::text[], :error_classes::text[], :errors::text[], :fingerprints::text[],
            :refunds::integer[])
     as told (id, state, result, error_class, error, fingerprint, refund) on told.id = gone.id
