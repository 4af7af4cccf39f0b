-- Between which two ticks a message was stamped; no tick above: it has not been.
--   :xid text   :seq bigint
-- A tick's snapshot sees exactly what was stamped up to its position, and one that works off a bulk has also stamped what its target
-- sees up to its cut. What one tick has stamped every later one has, so the first is found by halving, through the primary key. Thinned
-- ticks only make the stretch longer: a second's worth of messages. A search of 64-bit positions ends before step 130.
with recursive span as materialized (
    select min(position) - 1 as first, max(position) + 1 as last from /*schema*/tick
),
search (step, below, above) as (
    select 0, span.first, span.last from span
    union all
    select search.step + 1, case when middle.stamped then search.below else middle.position end,
           case when middle.stamped then middle.position else search.above end
    from search
    cross join lateral (
        select t.position, pg_visible_in_snapshot(:xid::xid8, t.snapshot)
                           or t.target is not null and pg_visible_in_snapshot(:xid::xid8, t.target) and :seq <= t.cut as stamped
        from (
            (select position, snapshot, target, cut from /*schema*/tick
             where position > search.below and position <= search.below + (search.above - search.below) / 2
             order by position desc limit 1)
            union all
            (select position, snapshot, target, cut from /*schema*/tick
             where position > search.below + (search.above - search.below) / 2 and position < search.above
             order by position limit 1)
            limit 1
        ) as t
    ) as middle
    where search.step < 130
),
found as materialized (
    select below, above from search order by step desc limit 1
)
select coalesce(before.position, -1) as after_position, coalesce(before.day, '-infinity') as first_day,
       stamped.position, stamped.day as last_day
from found
left join /*schema*/tick as before on before.position = found.below
left join /*schema*/tick as stamped on stamped.position = found.above
