-- What in the schema does not belong to the owner's role.
--   :schema text   :owner text
-- Catalogs only.
select object
from (
    select c.oid::regclass::text as object, c.relowner as owner
    from pg_class as c
    where c.relnamespace = to_regnamespace(quote_ident(:schema)) and c.relkind in ('r', 'p', 'v')
    union all
    select p.oid::regprocedure::text, p.proowner
    from pg_proc as p
    where p.pronamespace = to_regnamespace(quote_ident(:schema))
    union all
    select 'schema ' || n.nspname, n.nspowner
    from pg_namespace as n
    where n.nspname = :schema
) as owned
join pg_roles as r on r.oid = owned.owner
where r.rolname <> :owner
order by object
