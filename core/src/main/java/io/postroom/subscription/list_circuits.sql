-- Where the destination of a subscription takes nothing, as its live relays see it.
--   :name text
select r.name, c.opened_at, c.probe_at, c.failures, c.error_class, c.error
from /*schema*/circuit as c
join /*schema*/relay as r on r.id = c.relay and r.leased_until > clock_timestamp()
where c.subscription = :name
order by c.opened_at, r.name
