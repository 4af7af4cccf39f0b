-- Drop an archived day. See the function's own text in the migration.
--   :day date
-- Locks: the archives, for a moment; waits for neither longer than 200 ms.
select outcome, need
from /*schema*/drop_archived_day(:day)
