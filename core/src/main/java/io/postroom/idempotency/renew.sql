-- Keep a key while its steps go on; changes nothing if it has another owner.
--   :tenant text   :scope text   :key text   :fence bigint   :lease double precision, seconds
-- Locks: the row, or fails at once: one thread renews for all, and nobody else's lease may end because of one row that a step, or a
-- session that stands still, has locked. Index: idempotency_key_pkey, twice.
with mine as materialized (
    select tenant_id, scope, key
    from /*schema*/idempotency_key
    where tenant_id = :tenant and scope = :scope and key = :key and state = 'running' and fence = :fence
    for update nowait
)
update /*schema*/idempotency_key as k
set leased_until = clock_timestamp() + make_interval(secs => :lease)
from mine
where k.tenant_id = mine.tenant_id and k.scope = mine.scope and k.key = mine.key
