-- Settings that hold for a role, for this database, or for a role in it.
--   :names text[]
-- Catalogs only.
select r.rolname::text as role, d.datname::text as database, split_part(entry, '=', 1) as name, substr(entry, strpos(entry, '=') + 1) as setting
from pg_db_role_setting as s
cross join lateral unnest(s.setconfig) as entry
left join pg_roles as r on r.oid = s.setrole
left join pg_database as d on d.oid = s.setdatabase
where split_part(entry, '=', 1) = any(:names) and (d.oid is null or d.datname = current_database())
order by database nulls first, role nulls first, name
