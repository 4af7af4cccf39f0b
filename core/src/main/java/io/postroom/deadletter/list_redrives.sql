-- Redrives, newest first.
--   :limit int
select id, action, filter, patch, actor, reason, id_max, total, rate, canary, state, reached, done, skipped, skips, created_at,
       canary_at, ended_at, note
from /*schema*/redrive
order by created_at desc, id
limit :limit
