-- Jobs that fit, the newest first, without what they carry: those that have not ended, and those that have, as they ended.
--   :queue text?   :kind text?   :state text?   :tenant_id text?   :batch bigint?
--   :from bigint   :before bigint, ids from the one to below the other are looked at   :limit int
-- Index: the primary key, job_done_id.
(
    select j.id, j.queue, j.kind, j.priority, j.state, j.waits, j.run_at, j.attempt, w.name as worker, null::timestamptz as ended_at,
           null as error
    from /*schema*/job as j
    left join /*schema*/worker as w on w.id = j.worker
    where j.id >= :from and j.id < :before and (:queue::text is null or j.queue = :queue) and (:kind::text is null or j.kind = :kind)
      and (:state::text is null or j.state = :state) and (:tenant_id::text is null or j.tenant_id = :tenant_id)
      and (:batch::bigint is null or j.batch = :batch)
    order by j.id desc
    limit :limit
)
union all
(
    select d.id, d.queue, d.kind, d.priority, d.state, null, d.run_at, d.attempt, d.ended_by, d.ended_at, left(d.error, 1000)
    from /*schema*/job_done as d
    where d.id >= :from and d.id < :before and (:queue::text is null or d.queue = :queue) and (:kind::text is null or d.kind = :kind)
      and (:state::text is null or d.state = :state) and (:tenant_id::text is null or d.tenant_id = :tenant_id)
      and (:batch::bigint is null or d.batch = :batch)
    order by d.id desc
    limit :limit
)
order by id desc, ended_at desc nulls first
limit :limit
