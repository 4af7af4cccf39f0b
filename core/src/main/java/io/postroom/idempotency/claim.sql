-- Take a key's lock if nobody has it, then read its row: two statements in one round trip. The lock first: what is read after it cannot be
-- older than what its last holder has committed.
--   :tenant text   :scope text   :key text   :hash bytea   :idle_millis text?, null in a transaction of the caller's
-- Locks: an advisory one of the transaction. If the process vanishes, PostgreSQL ends the session after :idle_millis, and the lock with it.
-- Index: idempotency_key_pkey.
select pg_try_advisory_xact_lock(
           hashtextextended(:key, hashtextextended(:scope, hashtextextended(:tenant, hashtextextended('/*schema*/idempotency_key', 0)))))
           as locked,
       now() as began,
       case when :idle_millis::text is not null
           then set_config('idle_in_transaction_session_timeout', :idle_millis::text, true) end as idle
;
select state, request_hash = :hash as same, coalesce(leased_until > clock_timestamp(), false) as leased,
       state <> 'running' and expires_at <= clock_timestamp() as expired, status_code, headers, response, fence, recovery
from /*schema*/idempotency_key
where tenant_id = :tenant and scope = :scope and key = :key
