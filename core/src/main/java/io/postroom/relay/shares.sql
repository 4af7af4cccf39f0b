-- How many lanes each of some subscriptions has, how many live relays serve it, and how many of those come before this one.
--   :relay_id uuid   :subscriptions text[]
select s.name, s.lanes, count(r.id)::integer as relays, count(r.id) filter (where r.id < :relay_id)::integer as rank
from /*schema*/subscription as s
left join /*schema*/relay as r on s.name = any (r.subscriptions) and r.leased_until > clock_timestamp()
where s.name = any (:subscriptions)
group by s.name, s.lanes
