-- Release the first parked messages of keys in which nothing earlier has to wait any more. For lanes that are locked.
--   :subscriptions text[]   :keys int[], one for each   :run int, how many of a key at most
-- One due time for the whole run: they are claimed in the order of due time and position. Index: delivery_key.
with head as materialized (
    select freed.subscription, freed.key_hash, first.position, first.state
    from (select distinct subscription, key_hash from unnest(:subscriptions::text[], :keys::integer[]) as k (subscription, key_hash)) as freed
    cross join lateral (
        select v.position, v.state
        from /*schema*/delivery as v
        where v.subscription = freed.subscription and v.key_hash = freed.key_hash and v.state <> 'scheduled'
        order by v.position
        limit 1
    ) as first
),
run as materialized (
    select head.subscription, next.position
    from head
    cross join lateral (
        select v.position, v.state
        from /*schema*/delivery as v
        where v.subscription = head.subscription and v.key_hash = head.key_hash and v.position >= head.position
          and v.state <> 'scheduled'
        order by v.position
        limit :run
    ) as next
    where head.state = 'parked' and next.state = 'parked'
)
update /*schema*/delivery as v
set state = 'waiting', due_at = statement_timestamp()
from run
where v.subscription = run.subscription and v.position = run.position
