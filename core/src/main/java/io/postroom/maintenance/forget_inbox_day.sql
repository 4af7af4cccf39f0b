-- Take one step in forgetting the inbox's old days; no row when nothing is left to do.
--   :kept double precision, seconds   :after date, days up to it are left alone
-- Locks: the partition, or the inbox for a moment; waits for neither longer than 200 ms.
select day, outcome
from /*schema*/forget_inbox_day(make_interval(secs => :kept), :after)
where day is not null
