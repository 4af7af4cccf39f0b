-- Make the daily partitions ahead; answers with those that are new.
--   :lead_days int, 1..366
select keep_partitions
from /*schema*/keep_partitions(:lead_days)
