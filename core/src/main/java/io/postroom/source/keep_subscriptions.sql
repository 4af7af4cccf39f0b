-- Keep the subscriptions of some dead letters from being moved or removed until the transaction ends.
--   :ids bigint[]
-- Locks: the rows, shared with sources; whoever moves a subscription takes it alone.
select name
from /*schema*/subscription
where name in (select owner from /*schema*/dead_letter where id = any (:ids))
order by name
for key share
