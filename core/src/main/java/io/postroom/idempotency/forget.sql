-- Forget a key, so that the next request with it is the first; changes nothing if it is not as it was seen. When it began tells an
-- answer from one that was stored since: those of one transaction all have the same fence.
--   :tenant text   :scope text   :key text   :fence bigint   :state text   :reached int   :hash bytea   :created_at timestamptz
-- Locks: the row. Index: idempotency_key_pkey.
delete from /*schema*/idempotency_key
where tenant_id = :tenant and scope = :scope and key = :key and state = :state and fence = :fence and recovery_point = :reached
  and request_hash = :hash and created_at = :created_at
