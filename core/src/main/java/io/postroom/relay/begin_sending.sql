-- Note that some messages are about to be sent, where the last relay may have died of one of them, or have been on their way for
-- long: then the position can pass them. For a lane that is locked.
--   :subscription text   :lane int   :node text   :attempts int[]
--   :positions bigint[]   :key_hashes int[]   :seqs bigint[]   :outbox_days text[]   :bytes int[]
insert into /*schema*/delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, attempts, sending_since,
                                sending_by, replay_to)
select :subscription, m.position, :lane, m.key_hash, m.seq, m.outbox_day::date, m.bytes, 'sending', m.attempts, clock_timestamp(), :node,
       (select l.replay_to from /*schema*/lane as l where l.subscription = :subscription and l.lane = :lane)
from unnest(:positions::bigint[], :key_hashes::integer[], :seqs::bigint[], :outbox_days::text[], :bytes::integer[],
            :attempts::integer[])
    as m (position, key_hash, seq, outbox_day, bytes, attempts)
on conflict (subscription, position) do nothing
