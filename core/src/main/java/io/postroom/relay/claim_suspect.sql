-- Begin the next attempt of one delivery that a relay may have died of: of those that are due, the least suspect. For a lane that is
-- locked.
--   :subscription text   :lane int   :node text
-- An attempt is counted now, before it is made. Index: delivery_due.
with due as materialized (
    select position
    from /*schema*/delivery
    where subscription = :subscription and lane = :lane and due_at <= clock_timestamp() and crashes > 0
    order by crashes, due_at, position
    limit 1
)
update /*schema*/delivery as d
set state = 'sending', due_at = null, attempts = d.attempts + 1, sending_since = clock_timestamp(), sending_by = :node
where d.subscription = :subscription and d.position = (select position from due)
returning d.position, d.key_hash, d.seq, d.outbox_day, d.bytes, d.dead_letter, d.attempts, d.crashes, d.error_class, false as scheduled
