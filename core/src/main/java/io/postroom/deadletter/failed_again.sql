-- What a redrive put back and was buried again, whatever became of it since: how many, and the first of them.
--   :redrive uuid
-- An open one counts whether it names its origin or not: a replay may have buried the message meanwhile. One that was skipped counts, too: it
-- was not delivered. Index: dead_letter_redrive, dead_letter_position.
select count(*) over () as letters, id, error_class, error
from (
    select distinct on (d.id) again.id, again.error_class, again.error
    from /*schema*/dead_letter as d
    join /*schema*/dead_letter as again
        on again.source = d.source and again.owner = d.owner and again.position = d.position and again.id > d.id
        and (again.origin = d.id or again.resolution is null)
    where d.redrive = :redrive and d.resolution = 'redriven'
    order by d.id, again.id
) as failed
order by id
limit 1
