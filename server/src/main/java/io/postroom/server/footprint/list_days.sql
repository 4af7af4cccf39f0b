-- For each table with a partition for each day: how many it has, for which days, and for how many from today on.
--   :schema text
-- Zero in place of the partition: with its name PostgreSQL would wait for whoever has it locked.
select c.relname as name, count(bound.last)::integer as partitions, min(bound.first) as first, max(bound.last) - 1 as last,
       coalesce(max(bound.last) - (clock_timestamp() at time zone 'utc')::date, 0) as days_ahead
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
join /*schema*/daily_table as d on d.name = c.relname
left join pg_inherits as i on i.inhparent = c.oid
left join pg_class as part on part.oid = i.inhrelid
left join lateral (
    select (regexp_match(pg_get_expr(part.relpartbound, 0), 'FROM \(''([0-9-]+)''\)'))[1]::date as first,
           (regexp_match(pg_get_expr(part.relpartbound, 0), 'TO \(''([0-9-]+)''\)'))[1]::date as last
) as bound on true
where n.nspname = :schema and c.relkind = 'p'
group by c.relname
order by name
