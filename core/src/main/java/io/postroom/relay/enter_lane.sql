-- Begin a transaction in which a projection applies messages of a lane. No row: the lease is lost.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :timeline text, of the server when the lane was taken
--   :deadline double precision, seconds   :idle text, milliseconds
-- Locks nothing: the lease is renewed, and operators may look, while the projection works. Whatever it waits for ends with the
-- deadline, also when its process freezes: PostgreSQL ends the statement, or a little later the session. A stricter limit of the role's own
-- stays.
select recorded, now(),
       set_config('statement_timeout',
                  ceil(extract(epoch from least(nullif(current_setting('statement_timeout'), '0')::interval,
                                                make_interval(secs => :deadline))) * 1000)::bigint::text,
                  true),
       set_config('idle_in_transaction_session_timeout', :idle, true)
from /*schema*/lane
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
