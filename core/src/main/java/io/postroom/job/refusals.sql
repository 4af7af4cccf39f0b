-- Dead letters of jobs that cannot be redriven, and why.
--   :ids bigint[]
select d.id, 'its job is on its way again already' as reason
from /*schema*/dead_letter as d
join /*schema*/job as j on j.id = d.position
where d.id = any (:ids)
