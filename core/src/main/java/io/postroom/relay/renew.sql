-- Renew the leases that a relay knows it has. Lanes that are missing from the answer were taken by another relay, or moved. One that it
-- does not know of, because it could not be given back, is left to run out.
--   :relay_id uuid   :subscriptions text[]   :lanes int[]   :fences bigint[]   :lease double precision, seconds
-- Locked in the order in which operators lock them.
with held as materialized (
    select l.subscription, l.lane
    from /*schema*/lane as l
    join unnest(:subscriptions::text[], :lanes::integer[], :fences::bigint[]) as h (subscription, lane, fence)
        on l.subscription = h.subscription and l.lane = h.lane and l.fence = h.fence
    where l.owner = :relay_id
    order by l.subscription, l.lane
    for update of l
)
update /*schema*/lane as l
set leased_until = clock_timestamp() + make_interval(secs => :lease)
from held
where l.subscription = held.subscription and l.lane = held.lane
returning l.subscription, l.lane, l.fence, l.position, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline
