-- Lock lanes of a subscription for the rest of the transaction, and say where they are. After the subscription itself.
--   :name text   :lane int?, this one only
-- In this order always. A relay that records waits meanwhile, or we wait for it. A process that freezes between two statements would
-- keep the locks, and with them everybody from taking a lane: PostgreSQL ends its session instead.
select l.lane, l.position, l.replay_to, l.resume_at, l.fence, l.owner,
       coalesce(l.leased_until > clock_timestamp(), false) as leased,
       set_config('idle_in_transaction_session_timeout', '5000', true)
from /*schema*/lane as l
where l.subscription = :name and (:lane::integer is null or l.lane = :lane::integer)
order by l.lane
for update
