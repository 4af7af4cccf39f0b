-- The tables of the schema with all their partitions, the largest first.
--   :schema text
-- Catalogs and statistics only; sizes are asked of the file system.
select coalesce(parent.relname, c.relname) as name, (count(*) filter (where parent.oid is not null))::integer as partitions,
       sum(pg_total_relation_size(c.oid))::bigint as bytes, sum(pg_indexes_size(c.oid))::bigint as index_bytes,
       coalesce(sum(s.n_live_tup), 0)::bigint as live, coalesce(sum(s.n_dead_tup), 0)::bigint as dead,
       max(greatest(s.last_autovacuum, s.last_vacuum)) as vacuumed_at
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
left join pg_inherits as i on i.inhrelid = c.oid
left join pg_class as parent on parent.oid = i.inhparent
left join pg_stat_all_tables as s on s.relid = c.oid
where n.nspname = :schema and c.relkind = 'r'
group by 1
order by bytes desc, name
