-- How many open dead letters fit a filter, of how many keys and tenants, since when, and the newest of them.
--   the parameters of deadletter/filter.sql
-- Keys are told apart by a hash of 64 bits, and grouped before they are counted: no sort of all dead letters.
select coalesce(sum(letters), 0)::bigint as letters, count(*) as keys, count(distinct tenant_id) as tenants,
       min(first_buried_at) as first_buried_at, max(last_buried_at) as last_buried_at, coalesce(max(id_max), 0) as id_max
from (
    select d.tenant_id, count(*) as letters, min(d.buried_at) as first_buried_at, max(d.buried_at) as last_buried_at, max(d.id) as id_max
    from /*schema*/dead_letter as d
    where d.resolution is null
      /*filter*/
    group by d.tenant_id, hashtextextended(d.aggregate_id, hashtextextended(d.aggregate_type, hashtextextended(coalesce(d.tenant_id, ''), 0)))
) as key
