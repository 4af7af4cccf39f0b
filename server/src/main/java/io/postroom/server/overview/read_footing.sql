-- Live relays, partitions made ahead, and the oldest transaction of this database.
--   :outbox text
-- Catalogs and a small table only; who holds a snapshot, as footprint/list_holders.sql finds them. The newest partition's bound is read without its name: nobody's lock is waited for.
select coalesce((select wal_bytes from pg_stat_wal), 0)::bigint as wal_bytes,
       (select count(*) from /*schema*/relay where leased_until > clock_timestamp())::integer as relays,
       coalesce((
           select max((regexp_match(pg_get_expr(c.relpartbound, 0), 'TO \(''([0-9-]+)''\)'))[1]::date)
                  - (clock_timestamp() at time zone 'utc')::date
           from pg_inherits as i
           join pg_class as c on c.oid = i.inhrelid
           where i.inhparent = to_regclass(:outbox)
             and pg_get_expr(c.relpartbound, 0) ~ '^FOR VALUES FROM \(''[0-9-]+''\) TO \(''[0-9-]+''\)$'
       ), 0) as days_ahead,
       oldest.pid, oldest.application, coalesce(oldest.seconds, 0)::double precision as seconds
from (select 1) as one
left join lateral (
    select a.pid, a.application_name as application, extract(epoch from clock_timestamp() - a.xact_start) as seconds
    from pg_stat_activity as a
    where a.backend_xmin is not null and a.xact_start is not null and a.pid <> pg_backend_pid() and a.usesysid is not null
      and (a.datname is null or a.datname = current_database())
    order by a.xact_start
    limit 1
) as oldest on true
