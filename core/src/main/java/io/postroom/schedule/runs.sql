-- The times that a schedule has fired or left out, the last one first.
--   :schedule text   :limit int
-- Index: the primary key.
select fire_at, job_id, skipped, missed, at
from /*schema*/schedule_run
where schedule = :schedule
order by fire_at desc
limit :limit
