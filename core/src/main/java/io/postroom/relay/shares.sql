-- How many lanes each of some subscriptions has to be delivered, how many live relays serve it, and how many of those
-- were there before this one: a newcomer takes nothing from the others but its share. None while it is paused, or the number of
-- its lanes is about to change.
--   :relay_id uuid   :subscriptions text[]
select s.name, case when s.paused_at is null and s.lanes_wanted is null then s.lanes else 0 end as lanes,
       count(r.id)::integer as relays, count(r.id) filter (where (r.started_at, r.id) < (mine.started_at, mine.id))::integer as rank
from /*schema*/subscription as s
join /*schema*/relay as mine on mine.id = :relay_id
left join /*schema*/relay as r on s.name = any (r.subscriptions) and r.leased_until > clock_timestamp()
where s.name = any (:subscriptions)
group by s.name
