-- Take a running key from its owner, so that the next request with it goes on at once; changes nothing if it is not as it was seen.
--   :tenant text   :scope text   :key text   :fence bigint
-- Locks: the row. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set fence = fence + 1, leased_until = clock_timestamp()
where tenant_id = :tenant and scope = :scope and key = :key and state = 'running' and fence = :fence
