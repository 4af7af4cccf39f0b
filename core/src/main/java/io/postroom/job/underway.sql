-- How many jobs that a redrive has put back have not ended.
--   :redrive uuid
-- Index: dead_letter_redrive, the primary key of job.
select count(*)
from /*schema*/dead_letter as d
join /*schema*/job as j on j.id = d.position and j.origin = d.id
where d.redrive = :redrive
