-- Note that a step is done, in its own transaction; changes nothing if the key has another owner.
--   :tenant text   :scope text   :key text   :fence bigint   :reached int, steps done before   :step text   :recovery text, JSON
--   :lease double precision, seconds
-- Locks: the row, at the end of the step, so that the lease can be renewed meanwhile. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set recovery_point = recovery_point + 1, step = :step, recovery = :recovery::json,
    leased_until = clock_timestamp() + make_interval(secs => :lease)
where tenant_id = :tenant and scope = :scope and key = :key
  and state = 'running' and fence = :fence and recovery_point = :reached
