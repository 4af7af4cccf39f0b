-- Let roles read the tables of a generation.
--   :schema_name text   :readers text[]
select /*schema*/let_read(:schema_name, :readers)
