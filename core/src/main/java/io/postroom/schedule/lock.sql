-- Lock a schedule that is about to fire, if it is still to do so at that time and nobody else is at it.
--   :name text   :seen timestamptz   :patience text, milliseconds, for our own process if it freezes
-- Locks: the row, until the job is enqueued: whoever pauses it waits for that. Index: the primary key.
select true
from /*schema*/schedule
where name = :name and next_at = :seen and paused_at is null
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
for update skip locked
