-- Who keeps dead rows from being removed, the oldest first: sessions, prepared transactions, replication slots.
--   :limit int
-- Views of the server only. Nobody in another database keeps rows of this one; a standby without a slot does, and has no database. What
-- autovacuum does has no login and keeps nothing. Times of other roles are not shown without pg_read_all_stats, nor what kind they are.
select kind, name, application, state, seconds, behind
from (
    select 'session' as kind, 'process ' || a.pid as name, a.application_name as application, a.state,
           extract(epoch from clock_timestamp() - a.xact_start)::double precision as seconds, age(a.backend_xmin)::bigint as behind
    from pg_stat_activity as a
    where a.backend_xmin is not null and a.pid <> pg_backend_pid() and a.usesysid is not null
      and (a.datname is null or a.datname = current_database())
    union all
    select 'prepared transaction', p.gid, p.owner::text, 'prepared',
           extract(epoch from clock_timestamp() - p.prepared)::double precision, age(p.transaction)::bigint
    from pg_prepared_xacts as p
    where p.database = current_database()
    union all
    select 'replication slot', s.slot_name::text, s.plugin::text, case when s.active then 'active' else 'inactive' end, null,
           greatest(age(s.xmin), age(s.catalog_xmin))::bigint
    from pg_replication_slots as s
    where (s.xmin is not null or s.catalog_xmin is not null) and (s.database is null or s.database = current_database())
) as holder
order by behind desc, name
limit :limit
