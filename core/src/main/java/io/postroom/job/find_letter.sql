-- The open dead letter of a job.
--   :id bigint
select id
from /*schema*/dead_letter
where source = 'job' and position = :id and resolution is null
order by id desc
limit 1
