-- Everything up to :position has taken effect in this transaction or an earlier one, or has a delivery. Zero rows: nothing was
-- changed, because the lease is lost, or because this is not the transaction that it was when the projection got it.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :timeline text, of the server when the lane was taken
--   :position bigint   :from bigint[], the position last known to be written, and those whose writing was never answered since
--   :recorded bigint, the number of this record   :began timestamptz, when the transaction was begun   :patience text, milliseconds
-- The row is locked from here to the commit: a process that freezes in between must not keep it, and PostgreSQL ends its session soon.
update /*schema*/lane
set position = :position, recorded = :recorded
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and recorded = :recorded - 1 and position = any (:from::bigint[]) and now() = :began
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
returning set_config('idle_in_transaction_session_timeout', :patience, true)
