-- How many lanes each of some subscriptions has, how many live relays serve it, and how many of those
-- were there before this one: a newcomer takes nothing from the others but its share.
--   :relay_id uuid   :subscriptions text[]
select s.name, s.lanes, count(r.id)::integer as relays, count(r.id) filter (where (r.started_at, r.id) < (mine.started_at, mine.id))::integer as rank
from /*schema*/subscription as s
join /*schema*/relay as mine on mine.id = :relay_id
left join /*schema*/relay as r on s.name = any (r.subscriptions) and r.leased_until > clock_timestamp()
where s.name = any (:subscriptions)
group by s.name, s.lanes
