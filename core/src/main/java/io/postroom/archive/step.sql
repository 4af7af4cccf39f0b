-- Take one step in archiving the oldest day; no row when none is old enough. See the function's own text in the migration.
--   :older_than double precision, seconds
-- Locks: the day, or journal and outbox for a moment; waits for none of them longer than 200 ms.
select day, outcome, need
from /*schema*/archive_step(make_interval(secs => :older_than))
where day is not null
