-- Lock jobs that a worker is about to end or to put back, and say which of them are still its own, and whether somebody wants them
-- cancelled.
--   :ids bigint[], in ascending order   :fences bigint[], of these
-- In the order of ids, so that two who lock the same do not wait for each other in a circle. Index: the primary key.
select j.id, j.cancel_asked_at is not null as cancel_asked
from /*schema*/job as j
where j.id = any (:ids::bigint[]) and j.fence = (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])]
order by j.id
for update
