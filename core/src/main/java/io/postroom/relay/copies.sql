-- The copies of some subscriptions, and where each of them ends.
--   :subscriptions text[]
select s.name, s.copy_of, s.aggregate_types, s.event_types, s.tenants, max(coalesce(l.replay_to, l.position)) as last
from /*schema*/subscription as s
join /*schema*/lane as l on l.subscription = s.name
where s.copy_of = any (:subscriptions)
group by s.name
order by s.name
