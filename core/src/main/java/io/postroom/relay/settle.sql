-- Everything up to :position has been accepted in this lane. Zero rows: the lease is lost, nothing was changed.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint   :position bigint
--   :settled bigint, the position last known to be written   :attempted bigint, one whose writing was perhaps never answered
--   :timeline text, of the server when the lane was taken
-- Compare and set: a database that has gone back (a failover that lost commits, a rolled-back volume) or an operator who moved
-- the lane shows another position, and what was read before is not to be settled over it.
update /*schema*/lane
set position = :position
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
  and position in (:settled, :attempted)
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
