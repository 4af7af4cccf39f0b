-- The tables of one or two schemas, by name.
--   :schemas text[]
select distinct c.relname
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = any (:schemas) and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname
