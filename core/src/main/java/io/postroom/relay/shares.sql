-- How many lanes each of some subscriptions has to be delivered, how many live relays serve it, and how many of those
-- were there before this one: a newcomer takes nothing from the others but its share. None while it is paused, while a broker serves
-- it, while an operator is about to move its lanes or to change their number, and none for a copy that is done.
--   :relay_id uuid   :subscriptions text[]
-- awaited: somebody waits for its lanes. due: the number of its lanes can be changed now. former: it was changed not long ago.
select s.name,
       case when s.paused_at is null and s.served_by = 'postgres' and s.lanes_wanted is null
                 and coalesce(s.drain_until <= clock_timestamp(), true)
                 and (s.copy_of is null
                      or exists (select from /*schema*/lane as l where l.subscription = s.name and l.replay_to is not null)
                      or exists (select from /*schema*/delivery as d where d.subscription = s.name))
            then s.lanes else 0
       end as lanes,
       count(r.id)::integer as relays, count(r.id) filter (where (r.started_at, r.id) < (mine.started_at, mine.id))::integer as rank,
       s.lanes_wanted is not null or coalesce(s.drain_until > clock_timestamp(), false) as awaited,
       s.lanes_wanted is not null
       and not exists (select from /*schema*/lane as l where l.subscription = s.name and l.leased_until > clock_timestamp()) as due,
       s.former_positions is not null as former
from /*schema*/subscription as s
join /*schema*/relay as mine on mine.id = :relay_id
left join /*schema*/relay as r on s.name = any (r.subscriptions) and r.leased_until > clock_timestamp()
where s.name = any (:subscriptions)
group by s.name
