-- Give up on a message that a source was brought, or on one that was redriven.
--   :source text   :consumer text   :position bigint   :place text?   :id uuid   :tenant_id text?   :aggregate_type text
--   :aggregate_id text   :aggregate_version bigint?   :event_type text   :event_version int   :payload text, JSON
--   :headers text?, JSON   :occurred_at timestamptz   :available_at timestamptz?   :cause text   :attempts int
--   :error_class text   :error text   :fingerprint text   :history text, JSON   :node text   :origin bigint?
-- Another copy of the message may have been given up already: that dead letter goes on, and says that this one failed again. No row: another
-- message has its number. What was no message and could be read since has the place that it had. The hash is that of key_hash.
-- Index: the primary key, dead_letter_message.
insert into /*schema*/dead_letter as d (source, owner, position, key_hash, place, message_id, tenant_id, aggregate_type, aggregate_id,
                                        aggregate_version, event_type, event_version, payload, headers, occurred_at, available_at,
                                        cause, attempts, error_class, error, fingerprint, history, buried_by, origin,
                                        first_burial)
select :source, :consumer, :position,
       (hashtextextended(m.aggregate_id, hashtextextended(m.aggregate_type, hashtextextended(coalesce(m.tenant_id, ''), 0)))
        & 2147483647)::integer,
       :place, :id, m.tenant_id, m.aggregate_type, m.aggregate_id, :aggregate_version, :event_type, :event_version, :payload::json,
       :headers::json, :occurred_at, :available_at, :cause, :attempts, :error_class, :error, :fingerprint, :history::jsonb, :node,
       :origin,
       least((select coalesce(o.first_burial, o.id) from /*schema*/dead_letter as o where o.id = :origin::bigint),
             (select min(coalesce(f.first_burial, f.id)) from /*schema*/dead_letter as f
              where f.message_id = :id::uuid and f.owner = :consumer::text))
from (values (:tenant_id::text, :aggregate_type::text, :aggregate_id::text)) as m (tenant_id, aggregate_type, aggregate_id)
on conflict (source, owner, position) where resolution is null do update
    set cause = excluded.cause, attempts = excluded.attempts, error_class = excluded.error_class, error = excluded.error,
        fingerprint = excluded.fingerprint, history = excluded.history, place = excluded.place,
        origin = coalesce(excluded.origin, d.origin), first_burial = least(d.first_burial, excluded.first_burial, d.id)
    where d.message_id = excluded.message_id
returning id
