-- How far the journal and each lane had come at the end of each half minute of the last hour, oldest first. Without a subscription: the
-- journal, of which the first row may tell of a time before. Without a time: where the lane stands now. And when a lane came there.
--   :rows_max int, of ticks and of settlements
-- Once for each start of a console. Index: the primary key of tick backwards, settlement_at.
with since as materialized (
    select date_bin(interval '30 seconds', clock_timestamp() - interval '1 hour', timestamptz 'epoch') as at
),
ticked as materialized (
    select t.position, t.at from /*schema*/tick as t order by t.position desc limit :rows_max
),
settled as materialized (
    select s.subscription, s.lane, s.position, s.at
    from /*schema*/settlement as s
    where s.at > (select since.at from since)
    order by s.at desc
    limit :rows_max
)
select null as subscription, 0 as lane, max(position) as position,
       date_bin(interval '30 seconds', greatest(ticked.at, since.at), timestamptz 'epoch') + interval '30 seconds' as at,
       null::timestamptz as settled_at
from ticked
cross join since
group by 4
union all
select subscription, lane, max(position), date_bin(interval '30 seconds', settled.at, timestamptz 'epoch') + interval '30 seconds',
       max(settled.at)
from settled
-- What was cut off in the midst of a half minute is not the whole of it.
where (select count(*) from settled) < :rows_max or settled.at > (select min(at) + interval '30 seconds' from settled)
group by 1, 2, 4
union all
select l.subscription, l.lane, l.position, null, null from /*schema*/lane as l
order by at nulls last
