-- Let a redriven dead letter wait for its next attempt.
--   :dead_letter bigint   :attempts int   :after double precision, seconds
update /*schema*/redriven_letter
set attempts = :attempts, due_at = clock_timestamp() + make_interval(secs => :after)
where dead_letter = :dead_letter
