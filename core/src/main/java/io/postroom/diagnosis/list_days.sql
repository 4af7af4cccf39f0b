-- The days that each partition of the outbox and of its archive has: from first, up to but not including last. The default partition has none.
-- Zero in place of the partition: with its name PostgreSQL would wait for whoever has it locked.
select (regexp_match(bound.text, 'FROM \(''([0-9-]+)''\)'))[1]::date as first, (regexp_match(bound.text, 'TO \(''([0-9-]+)''\)'))[1]::date as last
from pg_inherits as i
join pg_class as c on c.oid = i.inhrelid
cross join lateral (select pg_get_expr(c.relpartbound, 0) as text) as bound
where i.inhparent in ('/*schema*/outbox'::regclass, '/*schema*/outbox_archive'::regclass) and bound.text ~ '^FOR VALUES FROM \(''[0-9-]+''\) TO \(''[0-9-]+''\)$'
order by first desc
