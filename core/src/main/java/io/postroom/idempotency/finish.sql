-- Store the answer of a key that was done in steps; changes nothing if the key has another owner.
--   :tenant text   :scope text   :key text   :hash bytea   :fence bigint   :reached int, steps done   :state text   :status int
--   :headers text?, JSON   :response bytea   :expiry double precision, seconds   :idle_millis text
-- What the steps left for later is not needed any more. Locks: the row; a process that vanishes before its commit does not keep it
-- for long. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set state = :state, status_code = :status, headers = :headers::json, response = :response, completed_at = clock_timestamp(),
    expires_at = clock_timestamp() + make_interval(secs => :expiry), leased_until = null, recovery = null
where tenant_id = :tenant and scope = :scope and key = :key
  and state = 'running' and fence = :fence and recovery_point = :reached and request_hash = :hash
returning set_config('idle_in_transaction_session_timeout', :idle_millis, true)
