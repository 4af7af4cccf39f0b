-- Sequences of the schema and how much of each is used. Without a right on one its value is null.
--   :schema text
select c.relname::text as name, s.seqmax, has_sequence_privilege(c.oid, 'select, usage') as seen,
       case when has_sequence_privilege(c.oid, 'select, usage') then pg_sequence_last_value(c.oid) end as last_value
from pg_sequence as s
join pg_class as c on c.oid = s.seqrelid
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = :schema and s.seqincrement > 0
order by name
