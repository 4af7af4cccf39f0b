-- How many messages were stamped during the last hour, or since the journal began, by whole minutes, and in its busiest minute.
-- Ticks grow in position and in time together (but for a clock that was set back), so the place of each minute is found by halving,
-- through the primary key; there is no index on the time. A search of 64-bit positions ends before step 130.
with mark as materialized (
    select clock.now - make_interval(mins => n) as at
    from (select clock_timestamp() as now) as clock
    cross join generate_series(0, 60) as n
), place as materialized (
    select mark.at, found.position
    from mark
    cross join lateral (
        with recursive search (step, below, above) as (
            select 0, span.first, span.last
            from (select min(position) - 1 as first, max(position) + 1 as last from /*schema*/tick) as span
            union all
            select search.step + 1, case when middle.at <= mark.at then middle.position else search.below end,
                   case when middle.at <= mark.at then search.above else middle.position end
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
        select t.position
        from (select below from search order by step desc limit 1) as last
        join /*schema*/tick as t on t.position = last.below
    ) as found
), minute as (
    select at, position, position - lag(position) over (order by at) as stamped from place
)
select coalesce(max(position) - min(position), 0) as messages,
       coalesce(extract(epoch from max(at) - min(at)), 0)::double precision as seconds, coalesce(max(stamped) / 60.0, 0)::double precision as peak
from minute
