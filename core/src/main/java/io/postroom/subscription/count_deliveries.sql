-- How many deliveries of a subscription are in which state.
--   :name text
select state, count(*)
from /*schema*/delivery
where subscription = :name
group by state
order by state
