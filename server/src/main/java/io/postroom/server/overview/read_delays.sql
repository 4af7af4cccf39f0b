-- How long the last settlements of the last minute came after the stamps of their messages, in seconds, the shortest first.
--   :limit int
-- Index: settlement_at, and the primary key of tick for each row. The time in a query of its own: as it stands it would be compared row by
-- row, through all that was ever settled while nothing is.
with settled as materialized (
    select position, at
    from /*schema*/settlement
    where at > (select clock_timestamp() - interval '1 minute')
    order by at desc
    limit :limit
)
select extract(epoch from settled.at - stamped.at)::double precision as seconds
from settled
cross join lateral (
    select tick.at
    from /*schema*/tick
    where tick.position >= settled.position
    order by tick.position
    limit 1
) as stamped
order by seconds
