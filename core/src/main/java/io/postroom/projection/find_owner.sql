-- Who owns a schema, whether this session may act as that role, and whether it may rename schemas of this database. No row: it is gone.
--   :schema_name text
select nspowner::regrole::text as owner, pg_has_role(current_user, nspowner, 'usage') as is_owner, current_user as me,
       has_database_privilege(current_database(), 'create') as may_create, current_database() as database
from pg_namespace
where nspname = :schema_name
