-- The subscriptions of some dead letters, kept from being removed until the transaction ends, with the number of their lanes.
--   :ids bigint[]
-- Before the lanes: who removes a subscription locks it first, too, and neither waits for the other in a ring.
select name, lanes
from /*schema*/subscription
where name in (select owner from /*schema*/dead_letter where id = any (:ids))
order by name
for key share
