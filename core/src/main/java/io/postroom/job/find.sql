-- A job as it stands, or as it ended last. Index: the primary key, job_done_id.
--   :id bigint
select j.id, j.queue, j.kind, j.priority, j.tenant_id, j.payload, j.headers, j.state, j.waits, j.run_at, j.attempt, j.fence,
       w.name as worker, j.claimed_at, j.cancel_asked_at, j.unique_key, j.batch, j.progress, j.created_at, null::timestamptz as ended_at,
       null as ended_by, null::json as result, null as error_class, null as error
from /*schema*/job as j
left join /*schema*/worker as w on w.id = j.worker
where j.id = :id
union all
(
    select d.id, d.queue, d.kind, d.priority, d.tenant_id, d.payload, d.headers, d.state, null, d.run_at, d.attempt, d.fence, null,
           d.claimed_at, null, d.unique_key, d.batch, null, d.created_at, d.ended_at, d.ended_by, d.result, d.error_class, d.error
    from /*schema*/job_done as d
    where d.id = :id
    order by d.ended_at desc
    limit 1
)
limit 1
