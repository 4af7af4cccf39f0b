-- The tables of the schema with what autovacuum knows of them.
--   :schema text
-- Catalogs and statistics only.
select c.relname::text as name, c.relispartition as is_partition, greatest(c.reltuples, 0)::bigint as rows,
       coalesce(pg_stat_get_dead_tuples(c.oid), 0) as dead, age(c.relfrozenxid)::bigint as age,
       coalesce((select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_enabled'), 'true') as enabled,
       coalesce((select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_scale_factor'),
                current_setting('autovacuum_vacuum_scale_factor'))::double precision as scale_factor,
       coalesce((select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_threshold'),
                current_setting('autovacuum_vacuum_threshold'))::bigint as threshold
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = :schema and c.relkind = 'r'
order by name
