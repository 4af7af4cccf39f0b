-- Put lanes somewhere else. For lanes that are locked and that no live relay has.
--   :name text   :lanes int[]   :positions bigint[]   :replay_tos bigint[]   :resume_ats bigint[]
-- A new fence: a relay that lost its lease long ago and wakes up may find the very position it left.
update /*schema*/lane as l
set position = m.position, replay_to = m.replay_to, resume_at = m.resume_at, fence = l.fence + 1
from unnest(:lanes::integer[], :positions::bigint[], :replay_tos::bigint[], :resume_ats::bigint[])
    as m (lane, position, replay_to, resume_at)
where l.subscription = :name and l.lane = m.lane
