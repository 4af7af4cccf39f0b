-- Lock a lane for the rest of the transaction and say where it is. No row: the lease is lost.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :timeline text, of the server when the lane was taken
--   :patience text, milliseconds
-- Everything that changes deliveries locks their lane first: relays, and operators too. A process that freezes between two
-- statements would keep the lock, and with it everybody from taking the lane over: PostgreSQL ends its session instead.
select position, recorded, set_config('idle_in_transaction_session_timeout', :patience, true)
from /*schema*/lane
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
for update
