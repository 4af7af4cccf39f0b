-- Forget a key, so that the next request with it is the first; changes nothing if it is not as it was seen.
--   :tenant text   :scope text   :key text   :fence bigint   :state text   :reached int
-- Locks: the row. Index: idempotency_key_pkey.
delete from /*schema*/idempotency_key
where tenant_id = :tenant and scope = :scope and key = :key and state = :state and fence = :fence and recovery_point = :reached
