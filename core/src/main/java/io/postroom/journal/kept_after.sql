-- The last position whose message is gone, dropped with its day; zero if all are there. See the function's own text in the migration.
select /*schema*/kept_after()
