-- Replication slots that nobody reads, and how much WAL each keeps.
--   :limit int
-- Views of the server only.
select slot_name::text as name, slot_type, coalesce(wal_status, '') as wal_status,
       case when pg_is_in_recovery() then 0 else coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0) end::bigint as bytes,
       coalesce(greatest(age(xmin), age(catalog_xmin)), 0)::bigint as transactions
from pg_replication_slots
where not active and not temporary
order by bytes desc, name
limit :limit
