-- Lock a lane for the rest of the transaction and say where it is. No row: the lease is lost.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :timeline text, of the server when the lane was taken
--   :patience text, milliseconds
-- Everything that changes deliveries locks their lane first: relays, and operators too. A process that freezes between two
-- statements would keep the lock, and with it everybody from taking the lane over: PostgreSQL ends its session instead.
-- Deliveries come and go by the thousand: plans made for a table that was empty a moment ago would read all of it again and again.
-- What follows in this transaction looks up single rows, so only look-ups are allowed.
select position, recorded,
       set_config('idle_in_transaction_session_timeout', :patience, true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true)
from /*schema*/lane
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
for update
