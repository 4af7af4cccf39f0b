-- A view was refreshed, since the transaction began.
--   :name text
update /*schema*/materialized_view
set refreshed_at = now(), took = clock_timestamp() - now(), due_at = greatest(now() + every, clock_timestamp()), failed_at = null,
    error = null, failures = 0
where name = :name
