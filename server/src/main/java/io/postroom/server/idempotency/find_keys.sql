-- Where a key stands: its tenants and scopes.
--   :key text   :steps_max int, so many pairs of tenant and scope are looked into   :limit int
-- Steps from pair to pair, because the key comes last in the only index. Index: idempotency_key_pkey.
with recursive pair as (
    (select tenant_id, scope, 1 as number from /*schema*/idempotency_key order by tenant_id, scope limit 1)
    union all
    select next.tenant_id, next.scope, pair.number + 1
    from pair
    cross join lateral (
        select k.tenant_id, k.scope
        from /*schema*/idempotency_key as k
        where (k.tenant_id, k.scope) > (pair.tenant_id, pair.scope)
        order by k.tenant_id, k.scope
        limit 1
    ) as next
    where pair.number < :steps_max
)
select pair.tenant_id, pair.scope
from pair
cross join lateral (
    select from /*schema*/idempotency_key as k
    where k.tenant_id = pair.tenant_id and k.scope = pair.scope and k.key = :key
    limit 1
) as found
limit :limit
