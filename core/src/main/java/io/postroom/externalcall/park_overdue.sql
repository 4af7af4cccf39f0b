-- Park calls whose provider may have forgotten the key and that nobody makes just now, oldest first.
--   :limit int   :reason text
-- Locks: the rows, skipping locked ones. Index: external_call_unknown; the clock is read once, so that it can bound the scan.
with overdue as materialized (
    select id
    from /*schema*/external_call
    where state = 'calling' and window_until <= (select clock_timestamp()) and leased_until <= (select clock_timestamp())
    order by window_until
    limit :limit
    for update skip locked
)
update /*schema*/external_call as call
set state = 'needs_reconciliation', leased_until = null, reason = :reason
from overdue
where call.id = overdue.id
returning call.key, call.name
