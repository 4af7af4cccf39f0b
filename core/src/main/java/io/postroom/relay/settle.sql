-- Everything up to :position has been accepted in this lane. Zero rows: the lease is lost, nothing was changed.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :position bigint
--   :from bigint[], the position last known to be written, and those whose writing was never answered since
--   :timeline text, of the server when the lane was taken
-- Compare and set: a database that has gone back (a failover that lost commits, a rolled-back volume) or an operator who moved
-- the lane shows another position, and what was read before is not to be settled over it.
update /*schema*/lane
set position = :position
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and position = any (:from::bigint[])
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
