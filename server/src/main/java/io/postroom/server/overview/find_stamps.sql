-- When the first message after each of some positions was stamped; none for a position that nothing came after.
--   :positions bigint[]
-- Index: the primary key of tick, once for each.
select p.position, first.at
from unnest(:positions::bigint[]) as p (position)
cross join lateral (
    select tick.at from /*schema*/tick where tick.position > p.position order by tick.position limit 1
) as first
