-- Lock the lanes of some dead letters for the rest of the transaction.
--   :ids bigint[]
-- In this order always. A relay that records waits meanwhile, or we wait for it. A process that freezes between two statements would
-- keep the locks, and relays from renewing their leases: PostgreSQL ends its session instead.
select l.subscription, l.lane, set_config('idle_in_transaction_session_timeout', '5000', true)
from /*schema*/lane as l
where (l.subscription, l.lane) in (
    select s.name, d.key_hash % s.lanes
    from /*schema*/dead_letter as d
    join /*schema*/subscription as s on s.name = d.owner
    where d.id = any (:ids)
)
order by l.subscription, l.lane
for update
