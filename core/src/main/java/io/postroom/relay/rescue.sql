-- Attempts that ended with their relay: the messages are to be sent again, each while no other of them is on its way.
--   :subscription text   :lane int
-- For a lane that is locked. Index: delivery_sending.
with ended as materialized (
    select position, sending_by, alone, extract(epoch from clock_timestamp() - sending_since)::double precision as seconds
    from /*schema*/delivery
    where subscription = :subscription and lane = :lane and state = 'sending'
)
update /*schema*/delivery as d
set state = 'waiting', due_at = statement_timestamp(), crashes = d.crashes + 1, sending_since = null, sending_by = null, alone = false
where d.subscription = :subscription and d.position = any (array(select position from ended))
returning d.position, d.key_hash, d.seq, d.outbox_day, d.bytes, d.dead_letter, d.attempts, d.crashes, d.error_class, false as scheduled,
          (select ended.sending_by from ended where ended.position = d.position),
          (select ended.seconds from ended where ended.position = d.position), d.replay_to,
          (select ended.alone from ended where ended.position = d.position) as alone
