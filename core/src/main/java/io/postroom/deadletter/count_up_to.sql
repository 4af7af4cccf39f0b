-- How many open dead letters fit a filter, up to a limit, of how many keys and tenants, and their ids, the newest first.
--   :letters_max int
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
-- Index: dead_letter_aggregate, dead_letter_list, dead_letter_group or dead_letter_newest, backwards. Where few of many fit, all are looked
-- at.
with letter as materialized (
    select d.id, d.key_hash, d.tenant_id, d.buried_at
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
    order by d.id desc
    limit :letters_max
)
select count(*) as letters, count(distinct key_hash) as keys, count(distinct tenant_id) as tenants, min(buried_at) as first_buried_at,
       max(buried_at) as last_buried_at, coalesce(max(id), 0) as id_max, array(select id from letter order by id desc) as ids
from letter
