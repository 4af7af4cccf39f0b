-- What a redrive put back and was buried again, whatever became of it since: how many, and the first of them.
--   :redrive uuid
-- An open one counts whether it names its origin or not: a replay, or another copy, may have been buried meanwhile. One that was skipped counts,
-- too: it was not delivered. What could be read since is another message, and whoever serves its subscription may have changed: then
-- the origin tells. Index: dead_letter_redrive, dead_letter_origin, dead_letter_position.
select count(*) over () as letters, id, error_class, error
from (
    select distinct on (d.id) again.id, again.error_class, again.error
    from /*schema*/dead_letter as d
    cross join lateral (
        select a.id, a.error_class, a.error
        from /*schema*/dead_letter as a
        where a.origin = d.id
        union all
        select a.id, a.error_class, a.error
        from /*schema*/dead_letter as a
        where a.owner = d.owner and a.position = d.position and a.id > d.id and a.resolution is null
          and (a.source = 'job') = (d.source = 'job')
    ) as again
    where d.redrive = :redrive and d.resolution = 'redriven'
    order by d.id, again.id
) as failed
order by id
limit 1
