-- Make the daily partitions ahead; answers with those that are new.
--   :lead_days int, 1..366
-- A process that freezes before the commit would keep locks that writers wait for: PostgreSQL ends its session instead.
select keep_partitions
from /*schema*/keep_partitions(:lead_days)
where (select set_config('idle_in_transaction_session_timeout', '10000', true)) is not null
