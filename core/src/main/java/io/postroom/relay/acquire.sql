-- Take free or expired lanes of one subscription. A lane of this relay's own that it does not know of is one whose taking was
-- never answered; it is taken again with a new fence.
--   :subscription text   :relay_id uuid   :held int[], lanes it knows it has   :limit int   :lease double precision, seconds
-- Locks: the rows, skipping locked ones. MATERIALIZED is a fence: a plain subquery may be run again and take more than :limit.
with free as materialized (
    select subscription, lane, owner
    from /*schema*/lane
    where subscription = :subscription and lane <> all (:held)
      and exists (
          select from /*schema*/subscription
          where name = :subscription and paused_at is null and lanes_wanted is null and served_by = 'postgres'
            and coalesce(drain_until <= clock_timestamp(), true)
      )
      and (owner is null or owner = :relay_id or leased_until < clock_timestamp())
    order by lane
    limit :limit
    for update skip locked
)
update /*schema*/lane as lane
set owner = :relay_id, leased_until = clock_timestamp() + make_interval(secs => :lease), fence = lane.fence + 1
from free
where lane.subscription = free.subscription and lane.lane = free.lane
returning lane.lane, lane.position, lane.fence, free.owner is not null as unclean,
          free.owner is not null and free.owner <> :relay_id as takeover,
          left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline
