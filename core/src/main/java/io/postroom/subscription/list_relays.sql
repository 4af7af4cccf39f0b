-- The live relays that serve a subscription, and how long their leases last.
--   :name text
select name, extract(epoch from leased_until - clock_timestamp())::double precision as seconds
from /*schema*/relay
where :name = any (subscriptions) and leased_until > clock_timestamp()
order by name, id
