-- Which of some roles there are.
--   :roles text[]
-- Catalogs only.
select rolname::text as name from pg_roles where rolname = any(:roles)
