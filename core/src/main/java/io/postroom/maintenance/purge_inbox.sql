-- Forget what was accepted too long ago outside of daily partitions; answers with how many went.
--   :kept double precision, seconds   :at_most int, 1..100000
-- Locks: the rows, skipping locked ones. Index: on accepted_at, in both of these partitions.
select purged
from /*schema*/purge_inbox(make_interval(secs => :kept), :at_most)
