-- Keep keys while their steps go on, all that are due at once, and say of each whether it is still its owner's. In the order given.
--   :tenants text[]   :scopes text[]   :keys text[]   :fences bigint[]   :leases text[], seconds
-- Locks: the rows, skipping those that a step, or a session that stands still, has locked: nobody else's lease may end because of one
-- row, and a step prolongs its own. Index: idempotency_key_pkey, three times; subqueries that cannot be made joins, or the planner would
-- read all running keys.
with given as materialized (
    select g.tenant_id, g.scope, g.key, g.fence, g.lease, g.n
    from unnest(:tenants::text[], :scopes::text[], :keys::text[], :fences::bigint[], :leases::text[]::float8[])
        with ordinality as g (tenant_id, scope, key, fence, lease, n)
), mine as materialized (
    select k.tenant_id, k.scope, k.key, g.lease
    from given as g
    cross join lateral (
        select k.tenant_id, k.scope, k.key
        from /*schema*/idempotency_key as k
        where k.tenant_id = g.tenant_id and k.scope = g.scope and k.key = g.key and k.state = 'running' and k.fence = g.fence
        for update skip locked
    ) as k
), kept as (
    update /*schema*/idempotency_key as k
    set leased_until = clock_timestamp() + make_interval(secs => mine.lease)
    from mine
    where k.tenant_id = mine.tenant_id and k.scope = mine.scope and k.key = mine.key
)
select coalesce((
           select k.state = 'running' and k.fence = g.fence
           from /*schema*/idempotency_key as k
           where k.tenant_id = g.tenant_id and k.scope = g.scope and k.key = g.key
       ), false) as ours
from given as g
order by g.n
