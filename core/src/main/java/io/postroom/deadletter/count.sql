-- How many open dead letters fit a filter, of how many keys and tenants, since when, and the newest of them.
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
-- Keys are told apart by a hash of 64 bits, and grouped before they are counted: no sort of all dead letters.
select coalesce(sum(letters), 0)::bigint as letters, count(*) as keys, count(distinct tenant_id) as tenants,
       min(first_buried_at) as first_buried_at, max(last_buried_at) as last_buried_at, coalesce(max(id_max), 0) as id_max
from (
    select d.tenant_id, count(*) as letters, min(d.buried_at) as first_buried_at, max(d.buried_at) as last_buried_at, max(d.id) as id_max
    from /*schema*/dead_letter as d
    where d.resolution is null
      and (:owner::text is null or d.owner = :owner::text)
      and (:sources::text[] is null or d.source = any (:sources::text[]))
      and (:event_types::text[] is null or d.event_type = any (:event_types::text[]))
      and (:tenants::text[] is null or d.tenant_id = any (:tenants::text[]))
      and (:aggregate_type::text is null or d.aggregate_type = :aggregate_type::text)
      and (:aggregate_id::text is null or d.aggregate_id = :aggregate_id::text)
      and (:error_class::text is null or d.error_class = :error_class::text)
      and (:fingerprint::text is null or d.fingerprint = :fingerprint::text)
      and (:cause::text is null or d.cause = :cause::text)
      and (:ids::bigint[] is null or d.id = any (:ids::bigint[]))
      and (:buried_from::timestamptz is null or d.buried_at >= :buried_from::timestamptz)
      and (:buried_to::timestamptz is null or d.buried_at < :buried_to::timestamptz)
    group by d.tenant_id, hashtextextended(d.aggregate_id, hashtextextended(d.aggregate_type, hashtextextended(coalesce(d.tenant_id, ''), 0)))
) as key
