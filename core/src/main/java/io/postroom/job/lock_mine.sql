-- Lock jobs that a worker is about to end or to put back, and say which of them are still its own, and whether somebody wants them
-- cancelled. Those that somebody else has locked are left out.
--   :ids bigint[], in ascending order   :fences bigint[], of these   :patience text, milliseconds
-- Nobody waits. A process that freezes before the commit must not keep the rows: PostgreSQL ends its session soon. Index: the primary key.
select j.id, j.cancel_asked_at is not null as cancel_asked
from /*schema*/job as j
where j.id = any (:ids::bigint[]) and j.fence = (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])]
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
for update skip locked
