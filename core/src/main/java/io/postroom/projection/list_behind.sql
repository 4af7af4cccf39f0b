-- The lanes of generations that do not stand at a position, with where they are.
--   :read_model text   :numbers int[]   :position bigint
select format('lane %s of %s is at %s', l.lane, l.subscription, l.position)
from /*schema*/generation as g
join /*schema*/lane as l on l.subscription = g.subscription
where g.read_model = :read_model and g.number = any (:numbers) and l.position <> :position
order by l.subscription, l.lane
