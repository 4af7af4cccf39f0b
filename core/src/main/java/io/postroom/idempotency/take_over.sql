-- Go on with the steps of a key whose owner let its lease run out; nothing if somebody else did, or the owner is back.
--   :tenant text   :scope text   :key text   :fence bigint, that of the former owner   :lease double precision, seconds
-- Locks: the row. Index: idempotency_key_pkey.
update /*schema*/idempotency_key
set fence = fence + 1, leased_until = clock_timestamp() + make_interval(secs => :lease)
where tenant_id = :tenant and scope = :scope and key = :key
  and state = 'running' and fence = :fence and leased_until <= clock_timestamp()
