-- Claim as claim.sql does, but look only beyond turns that are known to have been claimed, and only at priorities that are known.
--   :queue text   :priorities int[], in ascending order   :turns bigint[], of these   :limit int   :bytes_max bigint   :worker uuid
--   :kinds text[]   :attempts_max int[]   :deadlines bigint[], milliseconds   :slack double precision, seconds
-- While somebody holds an old snapshot, what was claimed stays in the index as dead entries, all of them at its front: this passes them.
-- Whoever calls it must look from the beginning with claim.sql now and then, for those who committed late and for new priorities.
-- Locks, index and fences: as claim.sql. The nested loop takes the priorities in their order and stops at :limit.
with due as materialized (
    select picked.id, picked.priority, picked.turn, picked.bytes
    from unnest(:priorities::smallint[], :turns::bigint[]) as known (priority, turn)
    cross join lateral (
        select id, job.priority, job.turn,
               case when pg_column_compression(payload) is null then pg_column_size(payload) else octet_length(payload::text) end
                   + coalesce(pg_column_size(headers), 0) as bytes
        from /*schema*/job
        where ((hashtextextended(queue, 0) << 16) + job.priority, job.turn)
              > ((hashtextextended(:queue, 0) << 16) + known.priority, known.turn)
          and (hashtextextended(queue, 0) << 16) + job.priority <= (hashtextextended(:queue, 0) << 16) + known.priority
          and queue = :queue and state = 'ready' and waits is null
        order by (hashtextextended(queue, 0) << 16) + job.priority, job.turn
        limit :limit
        for update skip locked
    ) as picked
    where not exists (select from /*schema*/job_queue where name = :queue and paused_at is not null)
    limit :limit
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
