-- Let dead letters hold their keys: their deliveries stay, and later messages of the key are parked behind them. For a lane that is
-- locked.
--   :subscription text   :lane int   :dead_letters bigint[]
--   :positions bigint[]   :key_hashes int[]   :seqs bigint[]   :outbox_days text[]   :bytes int[]   :attempts int[]
insert into /*schema*/delivery as d (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state, attempts,
                                     replay_to)
select :subscription, h.position, :lane, h.key_hash, h.seq, h.outbox_day::date, h.bytes, h.dead_letter, 'held', h.attempts,
       (select l.replay_to from /*schema*/dead_letter as l where l.id = h.dead_letter)
from unnest(:dead_letters::bigint[], :positions::bigint[], :key_hashes::integer[], :seqs::bigint[], :outbox_days::text[],
            :bytes::integer[], :attempts::integer[])
    as h (dead_letter, position, key_hash, seq, outbox_day, bytes, attempts)
on conflict (subscription, position) do update
    set state = 'held', dead_letter = excluded.dead_letter, due_at = null, attempts = excluded.attempts, sending_since = null,
        sending_by = null
