-- End a job that is done, in the transaction of its handler. No row: the job was taken away, or this is not the transaction that the
-- handler got.
--   :id bigint   :fence bigint   :result text?, JSON   :ended_by text   :began timestamptz, when the transaction was begun
-- Index: the primary key.
with gone as (
    delete from /*schema*/job as j
    where j.id = :id and j.fence = :fence and now() = :began
    returning j.id, j.queue, j.kind, j.priority, j.tenant_id, j.payload, j.headers, j.run_at, j.attempt, j.retry, j.attempts_max,
              j.deadline, j.fence, j.worker, j.claimed_at, j.origin, j.created_at, j.unique_key, j.batch
)
insert into /*schema*/job_done (id, queue, kind, priority, tenant_id, payload, headers, state, run_at, attempt, retry, attempts_max, deadline,
                                fence, worker, claimed_at, origin, created_at, unique_key, batch, ended_by, result)
select gone.id, gone.queue, gone.kind, gone.priority, gone.tenant_id, gone.payload, gone.headers, 'done', gone.run_at, gone.attempt,
       gone.retry, gone.attempts_max, gone.deadline, gone.fence, gone.worker, gone.claimed_at, gone.origin, gone.created_at, gone.unique_key,
       gone.batch, :ended_by,
       :result::json
from gone
