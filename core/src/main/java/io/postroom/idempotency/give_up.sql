-- Let the next request with a key go on at once where its steps ended; changes nothing if it has another owner. The row stays even if
-- no step was done: the procedure may have called others before its first step.
--   :tenant text   :scope text   :key text   :fence bigint
-- The fence grows, so that a renewal which is on its way does not take it back. Locks: the row. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set leased_until = clock_timestamp(), fence = fence + 1
where tenant_id = :tenant and scope = :scope and key = :key and state = 'running' and fence = :fence
