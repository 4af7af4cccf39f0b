-- Release the first parked messages of keys in which nothing earlier has to wait any more. For a lane that is locked.
--   :subscription text   :keys int[]   :run int, how many of a key at most
-- One that a relay may have died of goes alone: others are claimed apart from it and would overtake it.
-- One due time for the whole run: they are claimed in the order of due time and position. Index: delivery_key.
with head as materialized (
    select key_hash, first.position, first.state, first.crashes
    from unnest(:keys::integer[]) as key_hash
    cross join lateral (
        select d.position, d.state, d.crashes
        from /*schema*/delivery as d
        where d.subscription = :subscription and d.key_hash = key_hash.key_hash and d.state <> 'scheduled'
        order by d.position
        limit 1
    ) as first
),
run as materialized (
    select next.position
    from head
    cross join lateral (
        select first.position,
               bool_and(first.state = 'parked' and (first.position = head.position or first.crashes + head.crashes = 0))
                   over (order by first.position) as free
        from (
            select d.position, d.state, d.crashes
            from /*schema*/delivery as d
            where d.subscription = :subscription and d.key_hash = head.key_hash and d.position >= head.position
              and d.state <> 'scheduled'
            order by d.position
            limit :run
        ) as first
    ) as next
    where head.state = 'parked' and next.free
)
update /*schema*/delivery as d
set state = 'waiting', due_at = statement_timestamp()
where d.subscription = :subscription and d.position = any (array(select position from run))
