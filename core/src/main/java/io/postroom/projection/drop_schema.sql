-- Drop the schema of a generation with all that is in it, and nothing elsewhere. Waits for readers of its tables, not for long.
--   :schema_name text   :patience text, milliseconds
select set_config('lock_timeout', :patience, true), /*schema*/drop_schema(:schema_name)
