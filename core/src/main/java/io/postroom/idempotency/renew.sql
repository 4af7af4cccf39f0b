-- Keep a key while its steps go on; changes nothing if it has another owner.
--   :tenant text   :scope text   :key text   :fence bigint   :lease double precision, seconds
-- Locks: the row. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set leased_until = clock_timestamp() + make_interval(secs => :lease)
where tenant_id = :tenant and scope = :scope and key = :key and state = 'running' and fence = :fence
