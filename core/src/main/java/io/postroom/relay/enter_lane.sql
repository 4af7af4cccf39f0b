-- Begin a transaction in which a projection applies messages of a lane. No row: the lease is lost.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :timeline text, of the server when the lane was taken
--   :deadline text, milliseconds
-- Locks nothing: the lease is renewed, and operators may look, while the projection works. Whatever it waits for ends with the
-- deadline, also when its process freezes: PostgreSQL ends the statement, or the session.
select recorded, now(),
       set_config('statement_timeout', :deadline, true),
       set_config('idle_in_transaction_session_timeout', :deadline, true)
from /*schema*/lane
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
