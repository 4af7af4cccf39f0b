-- Park the messages that must not overtake one of their key which has to wait. For a lane that is locked. Index: delivery_head.
--   :subscription text   :keys int[]
-- One that has not been tried and is due waits for nothing itself. But if it was handed back after those behind it were released, they
-- are due before it and would be claimed first.
with head as materialized (
    select key_hash, first.position, first.due_at, stuck.position as stuck
    from unnest(:keys::integer[]) as key_hash
    cross join lateral (
        select d.position, d.due_at
        from /*schema*/delivery as d
        where d.subscription = :subscription and d.key_hash = key_hash.key_hash
          and d.state in ('waiting', 'sending', 'held', 'unreadable')
        order by d.position
        limit 1
    ) as first
    left join lateral (
        select d.position
        from /*schema*/delivery as d
        where d.subscription = :subscription and d.key_hash = key_hash.key_hash
          and d.state in ('waiting', 'sending', 'held', 'unreadable')
          and (d.state <> 'waiting' or d.attempts > 0 or d.crashes > 0 or d.due_at > clock_timestamp())
        order by d.position
        limit 1
    ) as stuck on true
)
update /*schema*/delivery as d
set state = 'parked', due_at = null
where d.subscription = :subscription and d.key_hash = any (:keys::integer[]) and d.state = 'waiting'
  and exists (
      select
      from head
      where head.key_hash = d.key_hash
        and (d.position > head.stuck or d.position > head.position and d.due_at < head.due_at)
  )
