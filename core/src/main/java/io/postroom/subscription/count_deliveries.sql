-- How many deliveries of a subscription are in which state, among no more than some of them.
--   :name text   :count_max int, so many are looked at
-- Index: the primary key.
select state, count(*)
from (select state from /*schema*/delivery where subscription = :name limit :count_max) as delivery
group by state
order by state
