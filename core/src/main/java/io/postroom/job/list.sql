-- Jobs that fit, the newest first: those that have not ended, and those that have, as they ended.
--   :queue text?   :kind text?   :state text?   :tenant_id text?   :batch bigint?   :from bigint, ids from it on   :before bigint, ids below it
--   :limit int
-- A state that a table never has is not looked for in it. Index: the primary key, job_done_id; what does not fit is read too, so that the
-- caller gives the ids to look through.
(
    select j.id, j.queue, j.kind, j.priority, j.tenant_id, j.payload, j.headers, j.state, j.waits, j.run_at, j.attempt, j.fence,
       w.name as worker, j.claimed_at, j.cancel_asked_at, j.unique_key, j.batch, j.progress, j.created_at, null::timestamptz as ended_at,
       null as ended_by, null::json as result, null as error_class, null as error
    from /*schema*/job as j
    left join /*schema*/worker as w on w.id = j.worker
    where (:state::text is null or :state in ('ready', 'running')) and j.id >= :from and j.id < :before
      and (:queue::text is null or j.queue = :queue) and (:kind::text is null or j.kind = :kind)
      and (:state::text is null or j.state = :state) and (:tenant_id::text is null or j.tenant_id = :tenant_id)
      and (:batch::bigint is null or j.batch = :batch)
    order by j.id desc
    limit :limit
)
union all
(
    select d.id, d.queue, d.kind, d.priority, d.tenant_id, d.payload, d.headers, d.state, null, d.run_at, d.attempt, d.fence, null,
           d.claimed_at, null, d.unique_key, d.batch, null, d.created_at, d.ended_at, d.ended_by, d.result, d.error_class, d.error
    from /*schema*/job_done as d
    where (:state::text is null or :state in ('done', 'failed', 'cancelled')) and d.id >= :from and d.id < :before
      and (:queue::text is null or d.queue = :queue) and (:kind::text is null or d.kind = :kind)
      and (:state::text is null or d.state = :state) and (:tenant_id::text is null or d.tenant_id = :tenant_id)
      and (:batch::bigint is null or d.batch = :batch)
    order by d.id desc
    limit :limit
)
order by id desc, ended_at desc nulls first
limit :limit
