-- Every subscription, or one, with the lane that a key falls into, who has that lane, who could have it, and what the relay that has
-- it says of the destination.
--   :subscription text?   :key_hash int   :limit int
-- A copy is served by the relays of its original. Each lookup is by primary key; subscriptions and relays are few.
select s.name, s.ordering, s.aggregate_types, s.event_types, s.tenants, s.began_after, s.on_burial, s.retry, s.copy_of, s.replay_rate,
       s.served_by,
       s.paused_at, s.paused_by, s.pause_reason, s.lanes, s.lanes_wanted,
       case when s.drain_until > clock_timestamp() then s.drain_until end as drain_until,
       s.former_positions[:key_hash % nullif(cardinality(s.former_positions), 0) + 1] as former_position,
       l.lane, l.position, l.replay_to, l.resume_at, r.name as owner, l.leased_until, l.fence,
       coalesce(l.leased_until > clock_timestamp(), false) as leased,
       serving.relays, serving.names, busy.lanes as lanes_busy, waiting.at as waiting_since,
       circuit.opened_at, circuit.probe_at, circuit.failures, circuit.error_class, circuit.error
from /*schema*/subscription as s
left join /*schema*/lane as l on l.subscription = s.name and l.lane = :key_hash % s.lanes
left join /*schema*/relay as r on r.id = l.owner
cross join lateral (
    select count(*)::integer as relays, string_agg(distinct live.name, ', ') as names
    from /*schema*/relay as live
    where live.leased_until > clock_timestamp() and live.subscriptions && array_remove(array[s.name, s.copy_of], null)
) as serving
cross join lateral (
    select count(*)::integer as lanes
    from /*schema*/lane as other
    where other.subscription = s.name and other.leased_until > clock_timestamp()
) as busy
left join lateral (
    select t.at from /*schema*/tick as t where t.position > l.position order by t.position limit 1
) as waiting on true
left join lateral (
    select c.opened_at, c.probe_at, c.failures, c.error_class, c.error
    from /*schema*/circuit as c
    where c.subscription in (s.name, s.copy_of) and c.relay = l.owner
    order by c.opened_at
    limit 1
) as circuit on true
where :subscription::text is null or s.name = :subscription::text
order by s.name
limit :limit
