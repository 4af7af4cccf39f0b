-- What jobs wait for, in the order of ids, once for each job that waits.
--   :of_batch text, a boolean   :after bigint, the last need that was looked at before   :limit int
-- What is left of a need for which more jobs wait is passed by whoever goes on after it. Index: the primary key.
select need
from /*schema*/job_need
where of_batch = :of_batch::boolean and need > :after
order by need
limit :limit
