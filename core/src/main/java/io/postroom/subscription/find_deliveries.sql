-- Positions of deliveries of a subscription, in their order: those of one state, or all, among the next ones; how many were looked at, and
-- the last of those. Always one row.
--   :name text   :state text?   :after bigint   :window int, so many are looked at   :limit int
-- Index: the primary key.
with looked as materialized (
    select position, state
    from /*schema*/delivery
    where subscription = :name and position > :after
    order by position
    limit :window
)
select count(*) as looked_at, coalesce(max(position), 0) as last,
       array(
           select position from looked where :state::text is null or state = :state::text order by position limit :limit
       ) as found
from looked
