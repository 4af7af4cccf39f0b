-- What PostgreSQL knows of a materialized view. No row: there is none of that name.
--   :schema_name text   :view_name text
-- A concurrent refresh needs a unique index on columns, over all rows.
select c.oid::regclass::text as view, c.relispopulated as populated, pg_has_role(current_user, c.relowner, 'usage') as is_owner,
       c.relowner::regrole::text as owner,
       exists (
           select
           from pg_index as i
           where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
       ) as has_key
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = :schema_name and c.relname = :view_name and c.relkind = 'm'
