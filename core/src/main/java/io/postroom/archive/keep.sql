-- Let no archived day be dropped until this transaction ends. See the function's own text in the migration.
select /*schema*/keep_archive()
