-- Indexes of the schema that are not valid and that nobody is building.
--   :schema text
-- Catalogs and a view of the server.
select c.relname::text as name, t.relname::text as table_name
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
join pg_class as t on t.oid = i.indrelid
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = :schema and c.relkind = 'i' and not (i.indisvalid and i.indisready)
  and not exists (select 1 from pg_stat_progress_create_index as p where p.index_relid = c.oid)
order by name
