-- Views of this database that read tables with policies by the rights of an owner for whom the policies do not hold.
--   :limit int
-- Catalogs only.
select distinct n.nspname::text as schema_name, v.relname::text as name, o.rolname::text as owner,
       format('%s.%s', tn.nspname, t.relname) as table_name
from pg_rewrite as r
join pg_class as v on v.oid = r.ev_class and v.relkind = 'v'
join pg_namespace as n on n.oid = v.relnamespace
join pg_roles as o on o.oid = v.relowner
join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
join pg_class as t on t.oid = d.refobjid and t.relkind in ('r', 'p') and t.relrowsecurity
join pg_namespace as tn on tn.oid = t.relnamespace
where n.nspname not in ('pg_catalog', 'information_schema')
  and not coalesce((select option_value::boolean from pg_options_to_table(v.reloptions) where option_name = 'security_invoker'), false)
  and (o.rolsuper or o.rolbypassrls or v.relowner = t.relowner and not t.relforcerowsecurity)
order by schema_name, name, table_name
limit :limit
