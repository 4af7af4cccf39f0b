-- A view could not be refreshed: it is tried again, ever later, but not later than it would be anyway.
--   :name text   :error text
update /*schema*/materialized_view
set failed_at = clock_timestamp(), error = :error, failures = failures + 1,
    due_at = clock_timestamp() + least(every, make_interval(secs => 10 * 2 ^ least(failures, 10)))
where name = :name
