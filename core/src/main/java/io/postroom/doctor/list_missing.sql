-- Of the rights that roles should have, those that they lack; all as arrays, one element for each right.
--   :roles text[]   :verbs text[]   :kinds text[], schema, table, column, function or all sequences in schema   :objects text[]   :columns text[], empty but for columns
-- Catalogs only. An object that is not there is another check's finding.
select n, case kind
           when 'schema' then has_schema_privilege(role, to_regnamespace(object), verb)
           when 'table' then has_table_privilege(role, to_regclass(object), verb)
           when 'column' then has_column_privilege(role, to_regclass(object), col, verb)
           when 'all sequences in schema' then (
               select coalesce(bool_and(has_sequence_privilege(role, c.oid, verb)), true)
               from pg_class as c
               where c.relnamespace = to_regnamespace(object) and c.relkind = 'S')
           else has_function_privilege(role, to_regprocedure(object), verb)
       end as has
from unnest(:roles::text[], :verbs::text[], :kinds::text[], :objects::text[], :columns::text[])
     with ordinality as wanted (role, verb, kind, object, col, n)
order by n
