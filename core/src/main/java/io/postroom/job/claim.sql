-- Claim the most urgent jobs of one queue for a worker: by priority, then by turn.
--   :queue text   :limit int   :bytes_max bigint, of payloads and headers; one job may have more   :worker uuid   :kinds text[]
--   :attempts_max int[], of these kinds   :deadlines bigint[], of these kinds, in milliseconds   :slack double precision, seconds
-- A key that is unique among the ready ones is free from now on. An attempt is counted now, before it begins. It is exact if it is the last one or came after a crash: begin.sql notes when it begins.
-- Locks: the rows, skipping locked ones. Index: job_claim, the primary key. The end of the queue is a comparison of rows: a planner that
-- takes both ends for a range expects a handful of jobs, and fetches and sorts them all. MATERIALIZED is a fence: a plain subquery may be run again
-- and claim more than :limit. An array instead of a join: whatever the planner believes, it looks up those rows and no other. What does
-- not fit into :bytes_max is left as it was; mostly all does, and only a sum is made. RETURNING has no order; the caller sorts.
with due as materialized (
    select id, priority, turn,
           case when pg_column_compression(payload) is null then pg_column_size(payload) else octet_length(payload::text) end
               + coalesce(pg_column_size(headers), 0) as bytes
    from /*schema*/job
    where (hashtextextended(queue, 0) << 16) + priority >= (hashtextextended(:queue, 0) << 16) - 32768
      and ((hashtextextended(queue, 0) << 16) + priority, turn) < ((hashtextextended(:queue, 0) << 16) + 32768, 0)
      and queue = :queue and state = 'ready' and waits is null
      and not exists (select from /*schema*/job_queue where name = :queue and paused_at is not null)
    order by (hashtextextended(queue, 0) << 16) + priority, turn
    limit :limit
    for update skip locked
),
fitting as materialized (
    select sized.id
    from (select id, bytes, sum(bytes) over (order by priority, turn rows unbounded preceding) as bytes_until from due) as sized
    where sized.bytes_until - sized.bytes < :bytes_max
)
update /*schema*/job as j
set state = 'running', worker = :worker, claimed_at = (select clock_timestamp()), attempt = j.attempt + 1, fence = j.fence + 1,
    unique_while = case when j.unique_while = 'ready' then null else j.unique_while end,
    exact = j.crashes > 0 or j.attempt + 1 >= coalesce(j.attempts_max, (:attempts_max::integer[])[array_position(:kinds::text[], j.kind)], 1),
    deadline_at = (select clock_timestamp() + make_interval(secs => :slack))
                  + coalesce(j.deadline,
                             (:deadlines::bigint[])[array_position(:kinds::text[], j.kind)] * interval '1 millisecond', interval '0')
where j.id = any (case when (select sum(due.bytes) from due) <= :bytes_max then array(select due.id from due)
                       else array(select fitting.id from fitting) end)
returning j.id, j.kind, j.priority, j.turn, j.tenant_id, j.payload, j.headers, j.attempt, j.retry, j.attempts_max,
          (date_part('epoch', j.deadline) * 1000)::bigint as deadline_millis, j.fence, j.exact,
          j.limit_name, j.limit_key, j.batch, (date_part('epoch', (select clock_timestamp()) - j.run_at) * 1000000)::bigint as waited_micros
