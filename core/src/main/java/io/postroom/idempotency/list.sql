-- A page of keys as operators see them, in the order of tenant, scope and key. Answers and what steps left are not read.
--   :tenant text?   :scope text?   :state text?   :after_tenant text?   :after_scope text?   :after_key text?, the last of the page before
--   :limit int
-- Index: idempotency_key_notable for running and failed ones, else idempotency_key_pkey.
select tenant_id, scope, key, request_hash, state, status_code, created_at, completed_at, expires_at, leased_until,
       coalesce(leased_until > clock_timestamp(), false) as leased, fence, recovery_point, step
from /*schema*/idempotency_key
where (:tenant::text is null or tenant_id = :tenant::text)
  and (:scope::text is null or scope = :scope::text)
  and (:state::text is null or state = :state::text)
  and (:after_key::text is null or (tenant_id, scope, key) > (:after_tenant::text, :after_scope::text, :after_key::text))
order by tenant_id, scope, key
limit :limit
