-- How long until a delivery of a lane is due, in seconds. Index: delivery_due, delivery_suspect.
--   :subscription text   :lane int
select extract(epoch from next.due_at - clock_timestamp())::double precision
from (
    select least(
               (select d.due_at
                from /*schema*/delivery as d
                where d.subscription = :subscription and d.lane = :lane and d.due_at is not null and d.crashes = 0
                order by d.due_at
                limit 1),
               (select min(d.due_at)
                from /*schema*/delivery as d
                where d.subscription = :subscription and d.lane = :lane and d.due_at is not null and d.crashes > 0)
           ) as due_at
) as next
where next.due_at is not null
