-- For each table with a partition for each day: for how many days from today on it has one, and about how many rows lie in its default.
--   :schema text
-- Catalogs and statistics only. Zero in place of the partition: with its name PostgreSQL would wait for whoever has it locked.
select c.relname::text as name,
       coalesce(max((regexp_match(pg_get_expr(part.relpartbound, 0), 'TO \(''([0-9-]+)''\)'))[1]::date)
                filter (where pg_get_expr(part.relpartbound, 0) ~ '^FOR VALUES FROM \(''[0-9-]+''\) TO \(''[0-9-]+''\)$')
                - (clock_timestamp() at time zone 'utc')::date, 0) as days_ahead,
       coalesce(max(pg_stat_get_live_tuples(part.oid)) filter (where pg_get_expr(part.relpartbound, 0) = 'DEFAULT'), 0) as strays
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
join /*schema*/daily_table as d on d.name = c.relname
left join pg_inherits as i on i.inhparent = c.oid
left join pg_class as part on part.oid = i.inhrelid
where n.nspname = :schema and c.relkind = 'p'
group by c.relname
order by name
