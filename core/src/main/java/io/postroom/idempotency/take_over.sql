-- Go on with the steps of a key whose owner let its lease run out; nothing if somebody else did, or the owner is back.
--   :tenant text   :scope text   :key text   :fence bigint, that of the former owner   :lease double precision, seconds
-- Locks: the row, skipping it: an owner that vanished before its commit may still hold it, and nobody waits for that.
-- Index: idempotency_key_pkey, twice.
with lapsed as materialized (
    select tenant_id, scope, key
    from /*schema*/idempotency_key
    where tenant_id = :tenant and scope = :scope and key = :key
      and state = 'running' and fence = :fence and leased_until <= clock_timestamp()
    for update skip locked
)
update /*schema*/idempotency_key as k
set fence = k.fence + 1, leased_until = clock_timestamp() + make_interval(secs => :lease)
from lapsed
where k.tenant_id = lapsed.tenant_id and k.scope = lapsed.scope and k.key = lapsed.key
