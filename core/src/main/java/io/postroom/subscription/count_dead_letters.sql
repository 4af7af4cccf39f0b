-- How many dead letters of a subscription are open. Index: dead_letter_list.
--   :name text
select count(*)
from /*schema*/dead_letter
where owner = :name and source in ('subscription', 'kafka') and resolution is null
