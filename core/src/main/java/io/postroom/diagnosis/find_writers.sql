-- Open transactions that have written to the outbox: whoever inserts keeps a lock on it until the transaction ends. A prepared one
-- has no process; its lock on its own transaction id tells which it is. Ages of other roles' transactions are seen by members of pg_read_all_stats only.
--   :limit int
select l.pid, a.application_name, a.usename::text as role, host(a.client_addr) as address, a.state, p.gid,
       extract(epoch from clock_timestamp() - coalesce(p.prepared, a.xact_start))::double precision as seconds
from pg_locks as l
left join pg_stat_activity as a on a.pid = l.pid
left join pg_locks as own on l.pid is null and own.pid is null and own.locktype = 'transactionid' and own.granted
    and own.virtualtransaction = l.virtualtransaction
left join pg_prepared_xacts as p on p.transaction = own.transactionid
where l.locktype = 'relation' and l.relation = '/*schema*/outbox'::regclass and l.mode = 'RowExclusiveLock' and l.granted
  and l.database = (select oid from pg_database where datname = current_database())
  and l.pid is distinct from pg_backend_pid()
order by seconds desc nulls last, l.pid
limit :limit
