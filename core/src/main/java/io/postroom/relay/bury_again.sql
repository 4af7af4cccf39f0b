-- Give up on messages that were redriven: as bury.sql, but the message comes from the dead letter it was redriven from.
--   :subscription text   :node text   :positions bigint[]   :origins bigint[]
--   :causes text[]   :attempts int[]   :error_classes text[]   :errors text[]   :fingerprints text[]
-- A replay may have buried the message meanwhile: that dead letter goes on, and says that this one failed again.
insert into /*schema*/dead_letter as open (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                                           aggregate_version, event_type, event_version, payload, headers, occurred_at, available_at,
                                           replay_to, cause, attempts, error_class, error, fingerprint, history, buried_by, origin)
select 'subscription', :subscription, b.position, m.key_hash, m.message_id, m.tenant_id, m.aggregate_type, m.aggregate_id,
       m.aggregate_version, m.event_type, m.event_version, coalesce(m.patched, m.payload), m.headers, m.occurred_at, m.available_at,
       m.replay_to, b.cause, b.attempts, b.error_class, b.error, b.fingerprint, /*schema*/attempt_history(:subscription, b.position), :node, m.id
from unnest(:positions::bigint[], :origins::bigint[], :causes::text[], :attempts::integer[], :error_classes::text[],
            :errors::text[], :fingerprints::text[])
    as b (position, origin, cause, attempts, error_class, error, fingerprint)
join /*schema*/dead_letter as m on m.id = b.origin
on conflict (source, owner, position) where resolution is null do update
    set cause = excluded.cause, attempts = excluded.attempts, error_class = excluded.error_class, error = excluded.error,
        fingerprint = excluded.fingerprint, history = excluded.history, origin = excluded.origin
returning id, position
