-- The oldest and the newest id of a job that has ended and is not forgotten; 0 if there is none.
-- Index: job_done_id, at its ends. Nothing is deleted there: an old snapshot leaves nothing to be passed.
select coalesce(min(id), 0) as oldest, coalesce(max(id), 0) as newest
from /*schema*/job_done
