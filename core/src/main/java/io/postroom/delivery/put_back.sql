-- Make dead letters that were just resolved into deliveries that are due now. For lanes that are locked.
--   :ids bigint[]
-- One due time for all: they are claimed in the order of due time and position. A message behind one of its key that has to wait is
-- parked, as relays do it. The content is read from the dead letter, so there is no outbox row to name. A delivery that was held
-- takes up where it was. Index: delivery_key.
insert into /*schema*/delivery as v (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, replay_to, state, due_at)
select d.owner, d.position, d.key_hash % s.lanes, d.key_hash, 0, (d.buried_at at time zone 'utc')::date,
       octet_length(coalesce(d.patched, d.payload)::text) + coalesce(octet_length(d.headers::text), 0), d.id, d.replay_to,
       case when stuck.position is null then 'waiting' else 'parked' end,
       case when stuck.position is null then statement_timestamp() end
from /*schema*/dead_letter as d
join /*schema*/subscription as s on s.name = d.owner
left join lateral (
    select e.position
    from /*schema*/delivery as e
    where s.ordering = 'key' and e.subscription = d.owner and e.key_hash = d.key_hash and e.position < d.position
      and (e.state in ('parked', 'unreadable') or e.state = 'held' and e.dead_letter <> all (:ids)
           or e.state = 'waiting' and (e.attempts > 0 or e.due_at > statement_timestamp()))
    limit 1
) as stuck on true
where d.id = any (:ids)
order by d.owner, d.position
on conflict (subscription, position) do update
    set state = excluded.state, due_at = excluded.due_at, dead_letter = excluded.dead_letter, bytes = excluded.bytes, attempts = 0,
        crashes = 0, error_class = null, error = null, fingerprint = null
    where v.state = 'held'
