-- Lock a schedule that is about to fire, if it is still to do so at that time and nobody else is at it.
--   :name text   :seen timestamptz
-- Locks: the row, until the job is enqueued: whoever pauses it waits for that. Index: the primary key.
select true
from /*schema*/schedule
where name = :name and next_at = :seen and paused_at is null
for update skip locked
