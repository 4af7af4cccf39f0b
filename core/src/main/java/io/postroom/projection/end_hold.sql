-- Let the lanes of generations go on.
--   :read_model text   :numbers int[]   :hold_at bigint
update /*schema*/generation
set hold_at = null, hold_until = null
where read_model = :read_model and number = any (:numbers) and hold_at = :hold_at
