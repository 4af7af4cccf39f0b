-- A page of the keys of a scope whose steps nobody goes on with, in the order of tenant and key.
--   :scope text   :after_tenant text, :after_key text, the last of the page before, or empty   :limit int
-- By key and not by age: what fails again and again must not stand before all others. Index: idempotency_key_notable.
select tenant_id, key, request_hash
from /*schema*/idempotency_key
where scope = :scope and state = 'running' and leased_until <= clock_timestamp()
  and (tenant_id, scope, key) > (:after_tenant, :scope, :after_key)
order by tenant_id, scope, key
limit :limit
