-- Tables of this database with policies that do not hold: switched off, or for an owner who can log in.
--   :limit int
-- Catalogs only.
select n.nspname::text as schema_name, c.relname::text as name, r.rolname::text as owner, c.relrowsecurity as enabled
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
join pg_roles as r on r.oid = c.relowner
where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')
  and exists (select 1 from pg_policy as p where p.polrelid = c.oid)
  and (not c.relrowsecurity or not c.relforcerowsecurity and r.rolcanlogin and not r.rolsuper)
order by schema_name, name
limit :limit
