-- Note that a step is done, in its own transaction; changes nothing if the key has another owner.
--   :tenant text   :scope text   :key text   :hash bytea   :fence bigint   :reached int, steps done before   :step text
--   :recovery text, JSON   :lease double precision, seconds   :idle_millis text
-- Locks: the row, at the end of the step, so that the lease can be renewed meanwhile. From here on only the commit is missing: a
-- process that vanishes before it does not keep the row for long. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set recovery_point = recovery_point + 1, step = :step, recovery = :recovery::json,
    leased_until = clock_timestamp() + make_interval(secs => :lease)
where tenant_id = :tenant and scope = :scope and key = :key
  and state = 'running' and fence = :fence and recovery_point = :reached and request_hash = :hash
returning set_config('idle_in_transaction_session_timeout', :idle_millis, true)
