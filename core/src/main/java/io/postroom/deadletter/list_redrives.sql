-- A page of redrives, newest first.
--   :before uuid?, the last of the page before   :limit int
select id, action, filter, patch, actor, reason, id_max, total, rate, canary, state, reached, done, skipped, skips, created_at,
       canary_at, ended_at, note
from /*schema*/redrive
where :before::uuid is null
   or (created_at, id) < ((select last.created_at from /*schema*/redrive as last where last.id = :before::uuid), :before::uuid)
order by created_at desc, id desc
limit :limit
