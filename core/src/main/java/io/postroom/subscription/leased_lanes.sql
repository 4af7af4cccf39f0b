-- The lanes of a subscription that some relay may act on now, and who has them.
--   :name text
select l.lane, r.name
from /*schema*/lane as l
left join /*schema*/relay as r on r.id = l.owner
where l.subscription = :name and l.leased_until > clock_timestamp()
order by l.lane
