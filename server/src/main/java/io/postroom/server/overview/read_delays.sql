-- How long after the stamps of their messages the last settlements of the last minute came, in seconds: of the newest message of each,
-- and of its oldest. And how many positions each has passed.
--   :limit int
-- Index: settlement_at, and the primary keys of settlement and tick for each row. The time in a query of its own: as it stands it would be
-- compared row by row, through all that was ever settled while nothing is.
with settled as materialized (
    select subscription, lane, position, at
    from /*schema*/settlement
    where at > (select clock_timestamp() - interval '1 minute')
    order by at desc
    limit :limit
)
select extract(epoch from settled.at - newest.at)::double precision as newest_seconds,
       extract(epoch from settled.at - coalesce(oldest.at, newest.at))::double precision as oldest_seconds,
       settled.position - coalesce(before.position, settled.position - 1) as messages
from settled
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
