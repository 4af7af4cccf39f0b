-- What outbox and journal keep, and the busiest day of the outbox, by statistics.
--   :schema text
-- Catalogs and statistics only; sizes are asked of the file system.
with part as (
    select parent.relname as table_name, pg_get_expr(c.relpartbound, 0) <> 'DEFAULT' as is_day, pg_total_relation_size(c.oid) as bytes,
           greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid)) as rows
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    join pg_class as parent on parent.oid = i.inhparent
    join pg_namespace as n on n.oid = parent.relnamespace
    where n.nspname = :schema and parent.relname in ('outbox', 'journal') and c.relkind = 'r'
)
select count(*) filter (where table_name = 'outbox' and is_day and rows > 0)::integer as days, coalesce(sum(bytes), 0)::bigint as bytes,
       coalesce(max(rows) filter (where table_name = 'outbox'), 0)::bigint as largest_rows,
       coalesce(max(bytes) filter (where table_name = 'outbox'), 0)::bigint as largest_bytes
from part
