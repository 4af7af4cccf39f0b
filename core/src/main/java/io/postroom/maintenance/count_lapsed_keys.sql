-- How many idempotency keys nobody goes on with. See the function's own text in the migration.
--   :lapsed_for double precision, seconds   :count_max int
select /*schema*/lapsed_keys(make_interval(secs => :lapsed_for), :count_max)
