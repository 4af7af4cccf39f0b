-- Which server this is, and who asks.
select current_setting('server_version_num')::integer as version, current_setting('server_version') as version_shown,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby, clock_timestamp() as now,
       current_database()::text as database, r.rolname::text as login, r.rolsuper, r.rolbypassrls,
       pg_has_role(r.oid, 'pg_read_all_stats', 'usage') as reads_stats
from pg_roles as r
where r.rolname = current_user
