-- Rights on the schema and what is in it that nobody should have: of whom, which, on what. The owner's own do not come.
--   :schema text   :owner text   and one array for each column of the rights that are meant
-- Catalogs only.
with wanted as materialized (
    select role, verb, kind, object, col
    from unnest(:roles::text[], :verbs::text[], :kinds::text[], :objects::text[], :columns::text[]) as wanted (role, verb, kind, object, col)
), meant as materialized (
    select role, upper(verb) as verb, col,
           case kind when 'schema' then to_regnamespace(object)::oid
                     when 'function' then to_regprocedure(object)::oid
                     else to_regclass(object)::oid
           end as object
    from wanted
    where kind <> 'all sequences in schema'
    union all
    select wanted.role, upper(wanted.verb), '', c.oid
    from wanted
    join pg_class as c on c.relnamespace = to_regnamespace(wanted.object) and c.relkind = 'S'
    where wanted.kind = 'all sequences in schema'
), given as (
    select n.oid as object, 'schema ' || quote_ident(n.nspname) as name, '' as col, a.grantee, a.privilege_type, n.nspowner as owner
    from pg_namespace as n
    cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
    where n.nspname = :schema
    union all
    select c.oid, case c.relkind when 'S' then 'sequence ' else 'table ' end || format('%I.%I', :schema, c.relname), '', a.grantee, a.privilege_type, c.relowner
    from pg_class as c
    cross join lateral aclexplode(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r'::"char" end, c.relowner))) as a
    where c.relnamespace = to_regnamespace(quote_ident(:schema)) and c.relkind in ('r', 'p', 'v', 'm', 'S')
    union all
    select c.oid, 'table ' || format('%I.%I', :schema, c.relname), t.attname::text, a.grantee, a.privilege_type, c.relowner
    from pg_attribute as t
    join pg_class as c on c.oid = t.attrelid
    cross join lateral aclexplode(t.attacl) as a
    where c.relnamespace = to_regnamespace(quote_ident(:schema)) and t.attacl is not null
    union all
    select p.oid, 'function ' || format('%I.%I(%s)', :schema, p.proname, pg_get_function_identity_arguments(p.oid)), '', a.grantee, a.privilege_type, p.proowner
    from pg_proc as p
    cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
    where p.pronamespace = to_regnamespace(quote_ident(:schema))
)
select coalesce(r.rolname::text, 'public') as grantee, g.privilege_type as verb, g.name as object, g.col
from given as g
left join pg_roles as r on r.oid = g.grantee
where g.grantee <> g.owner and r.rolname is distinct from :owner
  and not exists (
      select 1 from meant as m where m.object = g.object and m.role = r.rolname and m.verb = g.privilege_type and m.col = g.col)
order by grantee, object, col, verb
