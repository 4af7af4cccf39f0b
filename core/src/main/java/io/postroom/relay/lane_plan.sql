-- What a relay must know of a lane it has just taken. No row: its subscription has been moved to a broker in the same moment.
--   :subscription text   :lane int
select s.lanes, s.former_positions, l.recorded, l.replay_to, l.resume_at, s.replay_rate
from /*schema*/subscription as s
join /*schema*/lane as l on l.subscription = s.name
where s.name = :subscription and l.lane = :lane and s.served_by = 'postgres'
