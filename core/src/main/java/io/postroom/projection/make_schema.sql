-- Make the schema of a generation; in the rest of the transaction plain names mean what is in it.
--   :schema_name text
select /*schema*/make_schema(:schema_name)
