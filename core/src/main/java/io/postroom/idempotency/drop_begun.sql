-- Forget a key of which no step was done; changes nothing if it has another owner.
--   :tenant text   :scope text   :key text   :fence bigint
-- Locks: the row. Index: idempotency_key_pkey.
delete from /*schema*/idempotency_key
where tenant_id = :tenant and scope = :scope and key = :key and state = 'running' and fence = :fence and recovery_point = 0
