-- Lock a redrive for a step, and say how many letters its rate allows by now. No row: somebody else is at it, or there is none.
--   :id uuid
-- A process that freezes in the middle of the step would keep everybody from it: PostgreSQL ends its session instead.
-- A bucket that holds one second, or one letter if that is more: after a pause it does not make up for lost time.
select id, action, filter, patch, actor, reason, id_max, total, rate, canary, state, reached, done, skipped, skips, created_at,
       canary_at, ended_at, note,
       case when rate is null then 2147483647
            else floor(least(extract(epoch from clock_timestamp() - coalesce(paced_to, created_at - interval '1 day')),
                             greatest(1, 1 / rate)) * rate + 0.000001)
       end as allowance, set_config('idle_in_transaction_session_timeout', '10000', true)
from /*schema*/redrive
where id = :id
for update skip locked
