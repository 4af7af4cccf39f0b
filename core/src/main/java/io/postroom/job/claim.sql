-- Claim the most urgent jobs of one queue for a worker: by priority, then by turn.
--   :queue text   :limit int   :worker uuid   :kinds text[]   :attempts_max int[], of these kinds
--   :deadlines bigint[], of these kinds, in milliseconds   :slack double precision, seconds
-- An attempt is counted now, before it begins. It is exact if it is the last one or came after a crash: begin.sql notes when it begins.
-- Locks: the rows, skipping locked ones. Index: job_claim, then rows by their place. MATERIALIZED is a fence: a plain subquery may be run
-- again and claim more than :limit. An array instead of a join: whatever the planner believes, it looks up those rows and no other.
-- RETURNING has no order; the caller sorts.
with due as materialized (
    select id
    from /*schema*/job
    where queue = :queue and state = 'ready' and waits is null
    order by priority, turn
    limit :limit
    for update skip locked
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
