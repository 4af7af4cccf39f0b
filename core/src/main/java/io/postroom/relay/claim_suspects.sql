-- Begin the next attempts of some deliveries that a relay may have died of: of those that are due and least suspect, an eighth, in the
-- end one. If the relay dies again it is known better of which. For a lane that is locked.
--   :subscription text   :lane int   :node text   :up_to bigint, none beyond this position
--   :former bigint[]   :letters_up_to bigint, as in claim.sql
-- An attempt is counted now, before it is made; alone: it is the only one, and is to wait until nothing else is on its way. Index:
-- delivery_suspect, the primary key.
with due as materialized (
    select position, crashes, due_at
    from /*schema*/delivery
    where subscription = :subscription and lane = :lane and due_at <= clock_timestamp() and crashes > 0
      and (
          position <= :up_to
          or position <= (:former::bigint[])[1 + key_hash % nullif(cardinality(:former::bigint[]), 0)]
          or position <= :letters_up_to and dead_letter is not null
      )
    order by crashes, due_at, position
    limit 256
),
candidate as materialized (
    select position, due_at
    from due
    where crashes = (select min(crashes) from due)
),
chosen as materialized (
    select position
    from candidate
    order by due_at, position
    limit (select greatest(1, count(*) / 8) from candidate)
)
update /*schema*/delivery as d
set state = 'sending', due_at = null, attempts = d.attempts + 1, sending_since = clock_timestamp(), sending_by = :node
where d.subscription = :subscription and d.position = any (array(select position from chosen))
returning d.position, d.key_hash, d.seq, d.outbox_day, d.bytes, d.dead_letter, d.attempts, d.crashes, d.error_class, false as scheduled,
          d.replay_to, (select count(*) = 1 from chosen) as alone
