-- Lock the lanes of some dead letters for the rest of the transaction.
--   :ids bigint[]
-- In this order always. A relay that records waits meanwhile, or we wait for it.
select l.subscription, l.lane
from /*schema*/lane as l
where (l.subscription, l.lane) in (
    select s.name, d.key_hash % s.lanes
    from /*schema*/dead_letter as d
    join /*schema*/subscription as s on s.name = d.owner
    where d.id = any (:ids)
)
order by l.subscription, l.lane
for update
