-- Keep what did not go through, or is not to go yet. For a lane that is locked.
--   :subscription text   :lane int
--   :positions bigint[]   :key_hashes int[]   :seqs bigint[]   :outbox_days text[]   :bytes int[]   :dead_letters bigint[]
--   :states text[]   :waits bigint[], microseconds   :due_ats text[], instead of waits   :attempts int[]   :error_classes text[]   :errors text[]   :fingerprints text[]
insert into /*schema*/delivery as d (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state, due_at,
                                     attempts, error_class, error, fingerprint, replay_to)
select :subscription, k.position, :lane, k.key_hash, k.seq, k.outbox_day::date, k.bytes, k.dead_letter, k.state,
       case when k.state in ('waiting', 'scheduled') then coalesce(k.due_at::timestamptz, statement_timestamp() + make_interval(secs => k.wait / 1000000.0)) end,
       k.attempts, k.error_class, k.error, k.fingerprint,
       (select l.replay_to from /*schema*/lane as l where l.subscription = :subscription and l.lane = :lane)
from unnest(:positions::bigint[], :key_hashes::integer[], :seqs::bigint[], :outbox_days::text[], :bytes::integer[],
            :dead_letters::bigint[], :states::text[], :waits::bigint[], :due_ats::text[], :attempts::integer[], :error_classes::text[],
            :errors::text[], :fingerprints::text[])
    as k (position, key_hash, seq, outbox_day, bytes, dead_letter, state, wait, due_at, attempts, error_class, error, fingerprint)
on conflict (subscription, position) do update
    set state = excluded.state, due_at = excluded.due_at, attempts = excluded.attempts, sending_since = null, sending_by = null,
        alone = false,
        error_class = coalesce(excluded.error_class, d.error_class), error = coalesce(excluded.error, d.error),
        fingerprint = coalesce(excluded.fingerprint, d.fingerprint)
