-- Who holds locks on tables of a schema: the sessions a migration waits for.
--   :schema text
select distinct lock.pid, coalesce(activity.application_name, '') as application_name, activity.xact_start
from pg_locks as lock
join pg_class as class on class.oid = lock.relation
join pg_namespace as namespace on namespace.oid = class.relnamespace
left join pg_stat_activity as activity on activity.pid = lock.pid
where namespace.nspname = :schema and lock.granted and lock.pid <> pg_backend_pid()
order by lock.pid
