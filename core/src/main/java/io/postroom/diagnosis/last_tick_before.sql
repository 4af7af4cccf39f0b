-- The last tick made before a seq was drawn: the message with that seq stands after it. For messages whose transaction id was lost,
-- in a restored copy.
--   :seq bigint
-- By halving, through the primary key; there is no index on seq, which grows with the position.
with recursive span as materialized (
    select min(position) - 1 as first, max(position) + 1 as last from /*schema*/tick
),
search (step, below, above) as (
    select 0, span.first, span.last from span
    union all
    select search.step + 1, case when middle.seq < :seq then middle.position else search.below end,
           case when middle.seq < :seq then search.above else middle.position end
    from search
    cross join lateral (
        (select t.position, t.seq from /*schema*/tick as t
         where t.position > search.below and t.position <= search.below + (search.above - search.below) / 2
         order by t.position desc limit 1)
        union all
        (select t.position, t.seq from /*schema*/tick as t
         where t.position > search.below + (search.above - search.below) / 2 and t.position < search.above
         order by t.position limit 1)
        limit 1
    ) as middle
    where search.step < 130
)
select coalesce(t.position, -1) as position, coalesce(t.day, '-infinity') as day
from (select below from search order by step desc limit 1) as found
left join /*schema*/tick as t on t.position = found.below
