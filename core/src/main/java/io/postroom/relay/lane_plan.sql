-- What a relay must know of a lane it has just taken.
--   :subscription text   :lane int
select s.lanes, s.former_positions, l.recorded, l.replay_to, l.resume_at, s.replay_rate
from /*schema*/subscription as s
join /*schema*/lane as l on l.subscription = s.name
where s.name = :subscription and l.lane = :lane
