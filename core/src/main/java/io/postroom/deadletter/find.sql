-- One redrive as it stands.
--   :id uuid
select id, action, filter, patch, actor, reason, id_max, total, rate, canary, state, reached, done, skipped, skips, created_at,
       canary_at, ended_at, note
from /*schema*/redrive
where id = :id
