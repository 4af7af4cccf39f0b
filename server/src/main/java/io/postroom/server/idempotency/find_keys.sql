-- Where a key stands: its tenants and scopes, in their order. Besides, as the last row, the last pair of a tenant and a scope that was looked
-- into, if there may be more.
--   :key text   :tenant text?   :scope text?   :state text?   :after_tenant text?   :after_scope text?, the last pair of the page before
--   :steps_max int, so many pairs are looked into   :limit int
-- Steps from pair to pair, because the key comes last in the only index; from tenant to tenant where the scope is given.
-- Index: idempotency_key_pkey. Each way to step is a query of its own, so that its bounds are those of the index.
with recursive pair as (
    select first.tenant_id, first.scope, 1 as number
    from (
        (
            select k.tenant_id, k.scope
            from /*schema*/idempotency_key as k
            where :scope::text is null
              and (k.tenant_id, k.scope) > (coalesce(:after_tenant::text, ''), coalesce(:after_scope::text, ''))
              and k.tenant_id >= coalesce(:tenant::text, '')
            order by k.tenant_id, k.scope
            limit 1
        )
        union all
        (
            select k.tenant_id, k.scope
            from /*schema*/idempotency_key as k
            where :scope::text is not null and :after_tenant::text is null and k.tenant_id >= coalesce(:tenant::text, '')
            order by k.tenant_id, k.scope
            limit 1
        )
        union all
        (
            select k.tenant_id, k.scope
            from /*schema*/idempotency_key as k
            where :scope::text is not null and k.tenant_id > :after_tenant::text
            order by k.tenant_id, k.scope
            limit 1
        )
    ) as first
    union all
    select next.tenant_id, next.scope, pair.number + 1
    from pair
    cross join lateral (
        (
            select k.tenant_id, k.scope
            from /*schema*/idempotency_key as k
            where :scope::text is null and (k.tenant_id, k.scope) > (pair.tenant_id, pair.scope)
            order by k.tenant_id, k.scope
            limit 1
        )
        union all
        (
            select k.tenant_id, k.scope
            from /*schema*/idempotency_key as k
            where :scope::text is not null and k.tenant_id > pair.tenant_id
            order by k.tenant_id, k.scope
            limit 1
        )
    ) as next
    where pair.number < :steps_max and (:tenant::text is null or pair.tenant_id = :tenant::text)
)
select pair.tenant_id, coalesce(:scope::text, pair.scope) as scope, pair.number, found.is_here
from pair
cross join lateral (
    select exists (
        select
        from /*schema*/idempotency_key as k
        where k.tenant_id = pair.tenant_id
          and k.scope = coalesce(:scope::text, pair.scope)
          and k.key = :key
          and (:tenant::text is null or k.tenant_id = :tenant::text)
          and (:state::text is null or k.state = :state::text)
    ) as is_here
) as found
where found.is_here or pair.number = :steps_max
order by pair.number
limit :limit
