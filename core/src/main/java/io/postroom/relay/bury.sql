-- Give up on messages: the whole message, why, and its last hundred attempts. For a lane that is locked.
--   :subscription text   :node text   :positions bigint[]   :key_hashes int[]   :seqs bigint[]   :outbox_days text[]
--   :causes text[]   :attempts int[]   :error_classes text[]   :errors text[]   :fingerprints text[]
-- A message that is replayed may have an open dead letter already: that one goes on. It may be archived, too. Whether a replay read it, its
-- delivery knows; if it has none, it was read by what its lane does now.
insert into /*schema*/dead_letter as open (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                                           aggregate_version, event_type, event_version, payload, headers, occurred_at, available_at,
                                           replay_to, cause, attempts, error_class, error, fingerprint, history, buried_by)
select 'subscription', :subscription, b.position, b.key_hash, m.id, m.tenant_id, m.aggregate_type, m.aggregate_id,
       m.aggregate_version, m.event_type, m.event_version, m.payload, m.headers, m.occurred_at, m.available_at,
       (select case when v.position is null then l.replay_to else v.replay_to end
        from /*schema*/subscription as s
        join /*schema*/lane as l on l.subscription = s.name and l.lane = b.key_hash % s.lanes
        left join /*schema*/delivery as v on v.subscription = s.name and v.position = b.position
        where s.name = :subscription),
       b.cause, b.attempts, b.error_class, b.error, b.fingerprint, /*schema*/attempt_history(:subscription, b.position), :node
from unnest(:positions::bigint[], :key_hashes::integer[], :seqs::bigint[], :outbox_days::text[], :causes::text[],
            :attempts::integer[], :error_classes::text[], :errors::text[], :fingerprints::text[])
    as b (position, key_hash, seq, outbox_day, cause, attempts, error_class, error, fingerprint)
cross join lateral /*schema*/message_at(b.seq, b.outbox_day::date) as m
on conflict (source, owner, position) where resolution is null do update
    set cause = excluded.cause, attempts = excluded.attempts, error_class = excluded.error_class, error = excluded.error,
        fingerprint = excluded.fingerprint, history = excluded.history
returning id, position
