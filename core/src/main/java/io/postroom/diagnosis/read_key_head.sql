-- What a message waits behind: the first delivery of its key, if that is earlier, and the message it is about.
--   :subscription text   :key_hash int   :position bigint
-- Parked ones wait themselves, scheduled ones hold up nobody. Index: delivery_head.
with head as materialized (
    select position, state, due_at, attempts, sending_since, sending_by, error_class, error, seq, outbox_day, dead_letter
    from /*schema*/delivery
    where subscription = :subscription and key_hash = :key_hash and position < :position
      and state in ('waiting', 'sending', 'held', 'unreadable')
    order by position
    limit 1
)
select h.position, h.state, h.due_at, h.attempts, h.sending_since, h.sending_by, coalesce(h.error_class, d.error_class) as error_class,
       coalesce(h.error, d.error) as error, h.dead_letter, coalesce(d.message_id, o.id) as message_id
from head as h
left join /*schema*/dead_letter as d on d.id = h.dead_letter
left join lateral /*schema*/message_at(h.seq, h.outbox_day) as o on h.dead_letter is null
