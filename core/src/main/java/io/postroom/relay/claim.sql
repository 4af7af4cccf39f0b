-- Begin the next attempt of the deliveries that are due. For a lane that is locked.
--   :subscription text   :lane int   :node text   :limit int   :bytes_max bigint   :up_to bigint, none beyond this position
--   :former bigint[], but for what the lanes before had come to   :letters_up_to bigint, and for what has a dead letter
-- When it went through its delivery is gone: what the lane has not come to would be read again by whoever takes the lane next.
-- An attempt is counted now, before it is made. RETURNING has no order; the caller sorts. Index: delivery_due, the primary key.
-- An array instead of a join: for a join, a plan made while the table was empty may begin with the table.
with due as materialized (
    select position, due_at, bytes, state
    from /*schema*/delivery
    where subscription = :subscription and lane = :lane and due_at <= clock_timestamp() and crashes = 0
      and (
          position <= :up_to
          or position <= (:former::bigint[])[1 + key_hash % nullif(cardinality(:former::bigint[]), 0)]
          or position <= :letters_up_to and dead_letter is not null
      )
    order by due_at, position
    limit :limit
),
bounded as (
    select position, state, sum(bytes) over (order by due_at, position) - bytes as before
    from due
)
update /*schema*/delivery as d
set state = 'sending', due_at = null, attempts = d.attempts + 1, sending_since = clock_timestamp(), sending_by = :node,
    created_at = case d.state when 'scheduled' then d.due_at else d.created_at end
where d.subscription = :subscription and d.position = any (array(select position from bounded where before < :bytes_max))
returning d.position, d.key_hash, d.seq, d.outbox_day, d.bytes, d.dead_letter, d.attempts, d.crashes, d.error_class,
          d.position = any (array(select position from bounded where state = 'scheduled')) as scheduled, d.replay_to, d.alone
