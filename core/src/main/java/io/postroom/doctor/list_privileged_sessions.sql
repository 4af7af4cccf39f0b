-- Sessions of programs in this database whose login is a superuser or bypasses row level security, but for this one.
-- A view of the server and a catalog. Names of logins and programs are shown to everybody, kinds of sessions are not: by its name it
-- is a client.
select r.rolname::text as login, r.rolsuper, coalesce(a.application_name, '') as application, count(*) as sessions
from pg_stat_activity as a
join pg_roles as r on r.oid = a.usesysid
where a.datname = current_database() and a.pid <> pg_backend_pid()
  and (r.rolsuper or r.rolbypassrls) and (a.application_name like 'PostgreSQL JDBC%' or a.application_name like 'postroom%')
group by r.rolname, r.rolsuper, a.application_name
order by login, application
