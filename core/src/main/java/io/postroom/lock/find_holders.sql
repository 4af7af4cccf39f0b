-- Who holds a lock: processes of PostgreSQL.
--   :key bigint
-- Locks: none. Reads the server's table of locks, so it is for errors only.
select pid
from pg_locks
where locktype = 'advisory' and objsubid = 1 and granted
  and database = (select oid from pg_database where datname = current_database())
  and ((classid::bigint << 32) | objid::bigint) = :key
order by pid
