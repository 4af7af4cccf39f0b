-- Deliveries by their positions, with what their messages are: from outbox or archive, or from the dead letter one was redriven from.
-- Without payloads.
--   :name text   :positions bigint[]
-- Index: the primary key and, for each, the unique one on seq that each partition of the outbox has.
select v.position, v.lane, v.state, v.attempts, v.due_at, v.sending_since, v.sending_by, v.error_class, left(v.error, 1000) as error,
       v.created_at, v.dead_letter, coalesce(d.message_id, m.id) as message_id, coalesce(d.event_type, m.event_type) as event_type,
       coalesce(d.tenant_id, m.tenant_id) as tenant_id, coalesce(d.aggregate_type, m.aggregate_type) as aggregate_type,
       coalesce(d.aggregate_id, m.aggregate_id) as aggregate_id
from unnest(:positions::bigint[]) as wanted (position)
join /*schema*/delivery as v on v.subscription = :name and v.position = wanted.position
left join /*schema*/dead_letter as d on d.id = v.dead_letter
left join lateral /*schema*/message_at(v.seq, v.outbox_day) as m on v.dead_letter is null
order by v.position
