-- How fast the slowest lane of each subscription went during the last minute until now, and how long after its stamp 99 in 100 settlements came.
--   :limit int
-- A lane that settled nothing though there is something before it has no rows, and stands still. Index: settlement_at, backwards, and
-- the primary key of tick for each row.
with settled as materialized (
    select subscription, lane, position, at
    from /*schema*/settlement
    -- In a query of its own the time is one value, which the index can be searched for.
    where at > (select clock_timestamp() - interval '10 minutes')
    order by at desc
    limit :limit
), moved as (
    select subscription, lane, max(position) as position,
           coalesce(max(position) filter (where at <= clock.now - interval '1 minute'), min(position)) as position_before,
           least(interval '1 minute', clock.now - min(at)) as during
    from settled
    cross join (select clock_timestamp() as now) as clock
    group by subscription, lane, clock.now
), lane as (
    select subscription, lane, (position - position_before) / extract(epoch from during) as rate
    from moved
    where during > interval '0'
    union all
    select l.subscription, l.lane, 0
    from /*schema*/lane as l
    where l.position < (select position from /*schema*/tick order by position desc limit 1)
      and not exists (select from settled where settled.subscription = l.subscription and settled.lane = l.lane)
      and exists (select from settled where settled.subscription = l.subscription)
), delay as (
    select percentile_cont(0.99) within group (order by extract(epoch from settled.at - stamped.at)) as seconds
    from settled
    cross join lateral (
        select tick.at from /*schema*/tick where tick.position >= settled.position order by tick.position limit 1
    ) as stamped
)
select lane.subscription, min(lane.rate)::double precision as rate, null::double precision as seconds from lane group by lane.subscription
union all
select null, null, delay.seconds::double precision from delay
