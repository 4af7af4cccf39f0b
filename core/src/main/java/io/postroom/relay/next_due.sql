-- How long until a delivery of a lane is due, in seconds. Index: delivery_due, delivery_suspect.
--   :subscription text   :lane int
-- Of suspects there may be many, but few numbers of crashes: the first of each is looked at.
with recursive suspect as (
    (
        select d.crashes, d.due_at
        from /*schema*/delivery as d
        where d.subscription = :subscription and d.lane = :lane and d.due_at is not null and d.crashes > 0
        order by d.crashes, d.due_at
        limit 1
    )
    union all
    select next.crashes, next.due_at
    from suspect
    cross join lateral (
        select d.crashes, d.due_at
        from /*schema*/delivery as d
        where d.subscription = :subscription and d.lane = :lane and d.due_at is not null and d.crashes > suspect.crashes
          and d.crashes > 0
        order by d.crashes, d.due_at
        limit 1
    ) as next
)
select extract(epoch from next.due_at - clock_timestamp())::double precision
from (
    select least(
               (select d.due_at
                from /*schema*/delivery as d
                where d.subscription = :subscription and d.lane = :lane and d.due_at is not null and d.crashes = 0
                order by d.due_at
                limit 1),
               (select min(suspect.due_at) from suspect)
           ) as due_at
) as next
where next.due_at is not null
