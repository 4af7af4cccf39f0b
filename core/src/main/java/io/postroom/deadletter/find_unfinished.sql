-- Redrives that somebody must go on with, oldest first.
--   :limit int
-- Index: redrive_running.
select id
from /*schema*/redrive
where ended_at is null
order by created_at
limit :limit
