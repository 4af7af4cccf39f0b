-- What read_delays.sql says of the last minute, of the minute before the end of each half minute of the last hour: how long after the stamps
-- of their messages the last settlements came.
--   :limit int, settlements of each
-- Once for each start of a console. Index: settlement_at for each half minute, and the primary keys of settlement and tick for each row.
select step.at,
       extract(epoch from settled.at - newest.at)::double precision as newest_seconds,
       extract(epoch from settled.at - coalesce(oldest.at, newest.at))::double precision as oldest_seconds,
       settled.position - coalesce(before.position, settled.position - 1) as messages
from generate_series(
    date_bin(interval '30 seconds', clock_timestamp() - interval '1 hour', timestamptz 'epoch') + interval '30 seconds',
    clock_timestamp(),
    interval '30 seconds'
) as step (at)
cross join lateral (
    select s.subscription, s.lane, s.position, s.at
    from /*schema*/settlement as s
    where s.at > step.at - interval '1 minute' and s.at <= step.at
    order by s.at desc
    limit :limit
) as settled
cross join lateral (
    select tick.at from /*schema*/tick where tick.position >= settled.position order by tick.position limit 1
) as newest
left join lateral (
    select s.position
    from /*schema*/settlement as s
    where s.subscription = settled.subscription and s.lane = settled.lane and s.position < settled.position
    order by s.position desc
    limit 1
) as before on true
left join lateral (
    select tick.at from /*schema*/tick where tick.position > before.position order by tick.position limit 1
) as oldest on true
