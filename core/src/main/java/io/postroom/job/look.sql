-- Which of some jobs still run under these fences, and whether somebody wants them cancelled.
--   :ids bigint[], in ascending order   :fences bigint[], of these
-- Index: the primary key.
select j.id, j.cancel_asked_at is not null as cancel_asked
from /*schema*/job as j
where j.id = any (:ids::bigint[]) and j.fence = (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])]
