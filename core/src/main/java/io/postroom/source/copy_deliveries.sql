-- Put what waits in a feed up to a position, and so is not with the broker yet, down for a subscription, as far as it wants it. No relay
-- has its lanes, because a broker serves it, and their number stays as it is: it is locked.
--   :name text   :feed text   :position bigint
-- One due time for all but those for later: they are claimed in the order of due time and position.
insert into /*schema*/delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state, due_at)
select s.name, v.position, v.key_hash % s.lanes, v.key_hash, v.seq, v.outbox_day, v.bytes, v.dead_letter,
       case when v.state = 'scheduled' then 'scheduled' else 'waiting' end,
       case when v.state = 'scheduled' then v.due_at else statement_timestamp() end
from /*schema*/delivery as v
join /*schema*/subscription as s on s.name = :name
left join /*schema*/outbox as o on v.dead_letter is null and o.seq = v.seq and o.day = v.outbox_day
left join /*schema*/outbox_archive as a on v.dead_letter is null and a.seq = v.seq and a.day = v.outbox_day
left join /*schema*/dead_letter as d on d.id = v.dead_letter
where v.subscription = :feed and v.position <= :position and v.position > s.began_after and v.state <> 'held'
  and (s.aggregate_types is null or coalesce(o.aggregate_type, a.aggregate_type, d.aggregate_type) = any (s.aggregate_types))
  and (s.event_types is null or coalesce(o.event_type, a.event_type, d.event_type) = any (s.event_types))
  and (s.tenants is null or coalesce(o.tenant_id, a.tenant_id, d.tenant_id) = any (s.tenants))
on conflict (subscription, position) do nothing
