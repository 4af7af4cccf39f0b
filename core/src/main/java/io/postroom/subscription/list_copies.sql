-- The copies of a subscription.
--   :name text
select name
from /*schema*/subscription
where copy_of = :name
order by name
