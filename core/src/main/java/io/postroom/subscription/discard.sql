-- Make deliveries into dead letters that are discarded: nothing vanishes. What is held is a dead letter already. For lanes that are
-- locked.
--   :name text   :positions bigint[], these only; all if it is empty   :actor text   :error text   :fingerprint text
-- The message is read where the relay would read it. One whose day was dropped has nothing left to keep.
insert into /*schema*/dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                                   aggregate_version, event_type, event_version, payload, headers, occurred_at, available_at,
                                   cause, attempts, error_class, error, fingerprint, history, buried_by, origin,
                                   resolution, resolved_at, resolved_by)
select 'subscription', :name, m.position, m.key_hash, m.id, m.tenant_id, m.aggregate_type, m.aggregate_id, m.aggregate_version,
       m.event_type, m.event_version, m.payload, m.headers, m.occurred_at, m.available_at, 'skipped', m.attempts, 'skipped', :error,
       :fingerprint, /*schema*/attempt_history(:name, m.position), :actor, m.origin, 'discarded', clock_timestamp(), :actor
from (
    select v.position, v.key_hash, v.attempts, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.event_type,
           o.event_version, o.payload, o.headers, o.occurred_at, o.available_at, null::bigint as origin
    from /*schema*/delivery as v
    cross join lateral /*schema*/message_at(v.seq, v.outbox_day) as o
    where v.subscription = :name and v.dead_letter is null
      and (cardinality(:positions::bigint[]) = 0 or v.position = any (:positions::bigint[]))
    union all
    select v.position, v.key_hash, v.attempts, d.message_id, d.tenant_id, d.aggregate_type, d.aggregate_id, d.aggregate_version,
           d.event_type, d.event_version, coalesce(d.patched, d.payload), d.headers, d.occurred_at, d.available_at, d.id
    from /*schema*/delivery as v
    join /*schema*/dead_letter as d on d.id = v.dead_letter
    where v.subscription = :name and v.state <> 'held'
      and (cardinality(:positions::bigint[]) = 0 or v.position = any (:positions::bigint[]))
) as m
returning id
