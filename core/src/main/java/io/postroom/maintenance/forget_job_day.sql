-- Take one step in forgetting old days of what jobs left behind; no row when nothing is left to do.
--   :log text, job_done or job_attempt   :kept double precision, seconds   :after date, days up to it are left alone
-- Locks: the partition, or the whole table for a moment; waits for neither longer than 200 ms.
select day, outcome
from /*schema*/forget_job_day(:log, make_interval(secs => :kept), :after)
where day is not null
