-- Everything up to :position has been accepted in this lane. Zero rows: the lease is lost, nothing was changed.
--   :subscription text   :lane int   :fence bigint   :position bigint   :timeline text, of the server when the lane was taken
-- A server on another timeline may have lost the last commits, the lane's own among them: what was read there is not to be
-- settled here.
update /*schema*/lane
set position = :position
where subscription = :subscription and lane = :lane and fence = :fence and owner is not null and position <= :position
  and left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
