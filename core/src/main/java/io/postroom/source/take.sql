-- Lock a subscription so that nobody else, no source either, has anything to do with it until the transaction ends.
--   :name text
select name
from /*schema*/subscription
where name = :name
for update
