-- Renew every lease a relay still has. Lanes that are missing from the answer were taken by another relay.
--   :relay_id uuid   :lease double precision, seconds
update /*schema*/lane
set leased_until = clock_timestamp() + make_interval(secs => :lease)
where owner = :relay_id
returning subscription, lane, fence, position, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline
