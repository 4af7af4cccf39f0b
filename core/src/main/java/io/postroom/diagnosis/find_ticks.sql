-- How many seqs had been drawn around a time: at the last tick before it and at the first one after it. Nulls: there is no such tick.
--   :at timestamptz
-- Ticks grow in position and in time together (but for a clock that was set back), so the place is found by halving, through the
-- primary key; there is no index on the time. A search of 64-bit positions ends before step 130.
with recursive span as materialized (
    select min(position) - 1 as first, max(position) + 1 as last from /*schema*/tick
),
search (step, below, above) as (
    select 0, span.first, span.last from span
    union all
    select search.step + 1, case when middle.at <= :at then middle.position else search.below end,
           case when middle.at <= :at then search.above else middle.position end
    from search
    cross join lateral (
        (select t.position, t.at from /*schema*/tick as t
         where t.position > search.below and t.position <= search.below + (search.above - search.below) / 2
         order by t.position desc limit 1)
        union all
        (select t.position, t.at from /*schema*/tick as t
         where t.position > search.below + (search.above - search.below) / 2 and t.position < search.above
         order by t.position limit 1)
        limit 1
    ) as middle
    where search.step < 130
)
select before.seq as seq_before, after.seq as seq_after
from (select below, above from search order by step desc limit 1) as found
left join /*schema*/tick as before on before.position = found.below
left join /*schema*/tick as after on after.position = found.above
