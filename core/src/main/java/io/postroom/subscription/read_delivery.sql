-- How a delivery stands.
--   :name text   :position bigint
select v.lane, v.key_hash, v.state, v.dead_letter, v.attempts, coalesce(l.leased_until > clock_timestamp(), false) as leased
from /*schema*/delivery as v
join /*schema*/lane as l on l.subscription = v.subscription and l.lane = v.lane
where v.subscription = :name and v.position = :position
