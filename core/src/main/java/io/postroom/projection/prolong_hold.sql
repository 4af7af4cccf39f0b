-- The same for longer, if it has not run out.
--   :read_model text   :numbers int[]   :hold_at bigint   :seconds double precision
update /*schema*/generation
set hold_until = clock_timestamp() + make_interval(secs => :seconds)
where read_model = :read_model and number = any (:numbers) and hold_at = :hold_at and hold_until > clock_timestamp()
