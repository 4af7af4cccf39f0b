-- The names of subscriptions, for whoever misspelled one.
--   :limit int
select name
from /*schema*/subscription
order by name
limit :limit
