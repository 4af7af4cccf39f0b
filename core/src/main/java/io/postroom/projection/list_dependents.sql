-- Views and foreign keys elsewhere that hang on the tables of a schema: they follow the tables, not the name.
--   :schema_name text
select distinct format('view %I.%I', vn.nspname, v.relname) as dependent
from pg_depend as d
join pg_class as t on d.refclassid = 'pg_class'::regclass and t.oid = d.refobjid
join pg_namespace as tn on tn.oid = t.relnamespace
join pg_rewrite as w on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
join pg_class as v on v.oid = w.ev_class
join pg_namespace as vn on vn.oid = v.relnamespace
where tn.nspname = :schema_name and vn.nspname <> :schema_name
union
select format('foreign key %I of %I.%I', k.conname, rn.nspname, r.relname)
from pg_constraint as k
join pg_class as t on t.oid = k.confrelid
join pg_namespace as tn on tn.oid = t.relnamespace
join pg_class as r on r.oid = k.conrelid
join pg_namespace as rn on rn.oid = r.relnamespace
where k.contype = 'f' and tn.nspname = :schema_name and rn.nspname <> :schema_name
order by dependent
limit 10
