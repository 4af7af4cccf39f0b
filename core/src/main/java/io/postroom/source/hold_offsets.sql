-- A process has these partitions of a consumer from now on; says whether whoever had them before did not leave them in peace.
--   :consumer text   :partitions text[]
-- Locks: the rows, in the order of their names. A process that freezes before the commit would keep them from whoever has the partitions
-- next: PostgreSQL ends its session instead. Index: the primary key.
with before as materialized (
    select partition, held
    from /*schema*/source_offset
    where consumer = :consumer and partition = any (:partitions)
    order by partition
    for update
)
update /*schema*/source_offset as o
set held = true, updated_at = clock_timestamp()
from before
where o.consumer = :consumer and o.partition = before.partition
returning o.partition, before.held as deserted, set_config('idle_in_transaction_session_timeout', '10000', true)
