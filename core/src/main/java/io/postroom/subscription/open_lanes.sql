-- Make the lanes of a copy.
--   :name text   :lanes int   :position bigint   :replay_to bigint
insert into /*schema*/lane (subscription, lane, position, replay_to, resume_at)
select :name, lane, :position, :replay_to, :replay_to
from generate_series(0, :lanes - 1) as lane
