-- A key as operators see it.
--   :tenant text   :scope text   :key text
-- Index: idempotency_key_pkey.
select tenant_id, scope, key, request_hash, state, status_code, created_at, completed_at, expires_at, leased_until,
       coalesce(leased_until > clock_timestamp(), false) as leased, fence, recovery_point, step
from /*schema*/idempotency_key
where tenant_id = :tenant and scope = :scope and key = :key
