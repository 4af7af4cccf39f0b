-- End jobs that are done: they leave the table in the statement that says so. Answers with those that were this worker's to end.
--   :ids bigint[], in ascending order   :fences bigint[], of these   :ended_by text   :patience text, for locks, in milliseconds
-- Compare and set: one that was taken away has another fence and is left alone. Each fence is found in the array by halving, without a
-- join: where the planner believes that nothing runs, it would compare everything with everything. Whoever keeps one of them locked must
-- not hold up the others for long: the statement fails then. Index: the primary key.
with gone as (
    delete from /*schema*/job as j
    where j.id = any (:ids::bigint[]) and j.fence = (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])]
      and (select set_config('lock_timeout', :patience, true)) is not null
    returning j.id, j.queue, j.kind, j.priority, j.tenant_id, j.payload, j.headers, j.run_at, j.attempt, j.retry, j.attempts_max,
              j.deadline, j.fence, j.worker, j.claimed_at, j.origin, j.created_at, j.unique_key, j.batch
)
insert into /*schema*/job_done (id, queue, kind, priority, tenant_id, payload, headers, state, run_at, attempt, retry, attempts_max, deadline,
                                fence, worker, claimed_at, origin, created_at, unique_key, batch, ended_by)
select gone.id, gone.queue, gone.kind, gone.priority, gone.tenant_id, gone.payload, gone.headers, 'done', gone.run_at, gone.attempt,
       gone.retry, gone.attempts_max, gone.deadline, gone.fence, gone.worker, gone.claimed_at, gone.origin, gone.created_at, gone.unique_key,
       gone.batch, :ended_by
from gone
returning id
