-- Renew the leases that a relay knows it has. Lanes that are missing from the answer were taken by another relay, or moved. One that it
-- does not know of, because it could not be given back, is left to run out.
--   :relay_id uuid   :subscriptions text[]   :lanes int[]   :fences bigint[]   :lease double precision, seconds
update /*schema*/lane as l
set leased_until = clock_timestamp() + make_interval(secs => :lease)
from unnest(:subscriptions::text[], :lanes::integer[], :fences::bigint[]) as h (subscription, lane, fence)
where l.subscription = h.subscription and l.lane = h.lane and l.fence = h.fence and l.owner = :relay_id
returning l.subscription, l.lane, l.fence, l.position, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline
