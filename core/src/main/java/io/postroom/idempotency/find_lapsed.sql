-- The keys of a scope whose steps nobody goes on with, the oldest first.
--   :scope text   :limit int
-- Index: idempotency_key_notable.
select tenant_id, key, request_hash
from /*schema*/idempotency_key
where scope = :scope and state = 'running' and leased_until <= clock_timestamp()
order by created_at
limit :limit
