-- Who keeps dead rows from being removed, the oldest first: sessions, prepared transactions, replication slots.
--   :limit int
-- Views of the server only.
select kind, name, application, state, seconds, behind
from (
    select 'session' as kind, 'process ' || a.pid as name, a.application_name as application, a.state,
           extract(epoch from clock_timestamp() - a.xact_start)::double precision as seconds, age(a.backend_xmin)::bigint as behind
    from pg_stat_activity as a
    where a.backend_xmin is not null and a.pid <> pg_backend_pid()
    union all
    select 'prepared transaction', p.gid, p.owner::text, 'prepared',
           extract(epoch from clock_timestamp() - p.prepared)::double precision, age(p.transaction)::bigint
    from pg_prepared_xacts as p
    union all
    select 'replication slot', s.slot_name::text, s.plugin::text, case when s.active then 'active' else 'inactive' end, null,
           greatest(age(s.xmin), age(s.catalog_xmin))::bigint
    from pg_replication_slots as s
    where s.xmin is not null or s.catalog_xmin is not null
) as holder
order by behind desc, name
limit :limit
