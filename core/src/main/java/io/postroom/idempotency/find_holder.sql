-- The session whose command has a key just now. No row: none has.
--   :tenant text   :scope text   :key text
-- The lock is that of claim.sql, on a hash of 64 bits; pg_locks shows it in two halves. Since when is seen by whoever may see the session.
select a.pid, a.usename::text as login, a.application_name as application, a.xact_start as since
from pg_locks as l
join pg_stat_activity as a on a.pid = l.pid
cross join lateral (
    select hashtextextended(:key, hashtextextended(:scope, hashtextextended(:tenant, hashtextextended('/*schema*/idempotency_key', 0))))
) as lock (id)
where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
  and l.database = (select oid from pg_database where datname = current_database())
  and l.classid::bigint = (lock.id >> 32) & 4294967295 and l.objid::bigint = lock.id & 4294967295
limit 1
