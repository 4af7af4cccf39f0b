-- Take the next redriven dead letter of a consumer that is due, as the operator wants it applied; of each key the first one only, and the
-- others wait for it.
--   :consumer text   :unreadable text, the error class of what is no message
-- Locks: the row, skipping locked ones. Index: redriven_letter_due, redriven_letter_key.
select d.message_id, d.tenant_id, d.aggregate_type, d.aggregate_id, d.aggregate_version, d.event_type, d.event_version,
       coalesce(d.patched, d.payload) as payload, d.headers, d.occurred_at, d.available_at, r.dead_letter, r.attempts, d.position,
       d.place, d.error_class = :unreadable as unreadable
from /*schema*/redriven_letter as r
join /*schema*/dead_letter as d on d.id = r.dead_letter
where r.consumer = :consumer and r.due_at <= clock_timestamp()
  and not exists (
      select
      from /*schema*/redriven_letter as e
      where e.consumer = r.consumer and e.key_hash = r.key_hash
        and (e.turn, e.dead_letter) < (r.turn, r.dead_letter)
  )
order by r.due_at, r.dead_letter
limit 1
for update of r skip locked
