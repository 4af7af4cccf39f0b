-- What a redrive put back and was buried again: how many, and the first of them.
--   :redrive uuid
-- Index: dead_letter_redrive, dead_letter_open.
select count(*) over () as letters, again.id, again.error_class, again.error
from /*schema*/dead_letter as d
join /*schema*/dead_letter as again
    on again.source = d.source and again.owner = d.owner and again.position = d.position and again.resolution is null
    and again.id > d.id
where d.redrive = :redrive and d.resolution = 'redriven'
order by again.id
limit 1
