-- Let a view be due now.
--   :name text
update /*schema*/materialized_view
set due_at = clock_timestamp()
where name = :name
