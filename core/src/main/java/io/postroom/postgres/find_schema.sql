-- Whether a schema is there.
--   :name text
select exists (select 1 from pg_namespace where nspname = :name)
