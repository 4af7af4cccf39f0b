-- Claim as claim.sql does, but look only beyond turns that are known to have been claimed, and only at priorities that are known.
--   :queue text   :priorities int[], in ascending order   :turns bigint[], of these   :limit int   :worker uuid   :kinds text[]
--   :attempts_max int[]   :deadlines bigint[], milliseconds   :slack double precision, seconds
-- While somebody holds an old snapshot, what was claimed stays in the index as dead entries, all of them at its front: this passes them.
-- Whoever calls it must look from the beginning with claim.sql now and then, for those who committed late and for new priorities.
-- Locks, index and fences: as claim.sql. The nested loop takes the priorities in their order and stops at :limit.
with due as materialized (
    select picked.id
    from unnest(:priorities::smallint[], :turns::bigint[]) as known (priority, turn)
    cross join lateral (
        select id
        from /*schema*/job
        where queue = :queue and state = 'ready' and waits is null and priority = known.priority and turn > known.turn
        order by turn
        limit :limit
        for update skip locked
    ) as picked
    limit :limit
)
update /*schema*/job as j
set state = 'running', worker = :worker, claimed_at = clock_timestamp(), attempt = j.attempt + 1, fence = j.fence + 1,
    exact = j.crashes > 0 or j.attempt + 1 >= coalesce(j.attempts_max, (:attempts_max::integer[])[array_position(:kinds::text[], j.kind)], 1),
    deadline_at = clock_timestamp() + make_interval(secs => :slack)
                  + coalesce(j.deadline,
                             (:deadlines::bigint[])[array_position(:kinds::text[], j.kind)] * interval '1 millisecond', interval '0')
where j.id = any (array(select due.id from due))
returning j.id, j.kind, j.priority, j.turn, j.tenant_id, j.payload, j.headers, j.attempt, j.retry, j.attempts_max,
          (extract(epoch from j.deadline) * 1000)::bigint as deadline_millis, j.fence, j.exact
