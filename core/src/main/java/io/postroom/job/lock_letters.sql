-- Lock dead letters that are about to be resolved, in the order of their ids.
--   :ids bigint[]
select id
from /*schema*/dead_letter
where id = any (:ids)
order by id
for no key update
