-- Let no archived day be dropped until this transaction ends; answers with the last position that was dropped before. See the function's
-- own text in the migration.
select /*schema*/keep_archive()
