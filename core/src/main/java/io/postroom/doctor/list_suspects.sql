-- How many deliveries of each lane were there when a relay died, counted no further than a limit for each.
--   :limit int
-- Index: delivery_suspect, of each lane.
select subscription, lane, count(*) as suspects, max(crashes) as crashes
from (
    select d.subscription, d.lane, d.crashes
    from /*schema*/lane as l
    cross join lateral (
        select d.subscription, d.lane, d.crashes
        from /*schema*/delivery as d
        where d.subscription = l.subscription and d.lane = l.lane and d.crashes > 0 and d.due_at is not null
        limit :limit
    ) as d
) as suspect
group by subscription, lane
order by subscription, lane
