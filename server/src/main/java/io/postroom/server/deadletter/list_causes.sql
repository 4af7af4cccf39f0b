-- Open dead letters by what went wrong, among the newest of those that fit: the greatest groups first.
--   :window int, how many are looked at   :limit int, how many groups
--   :owner text?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive   :ids bigint[]?
-- Index: dead_letter_list where an owner is given, else the primary key from its end. Keys are counted by their hashes.
with newest as materialized (
    select id, owner, event_type, error_class, fingerprint, tenant_id, key_hash, error, buried_at
    from /*schema*/dead_letter
    where resolution is null
      and (:owner::text is null or owner = :owner::text)
      and (:event_types::text[] is null or event_type = any (:event_types::text[]))
      and (:tenants::text[] is null or tenant_id = any (:tenants::text[]))
      and (:aggregate_type::text is null or aggregate_type = :aggregate_type::text)
      and (:aggregate_id::text is null or aggregate_id = :aggregate_id::text)
      and (:error_class::text is null or error_class = :error_class::text)
      and (:fingerprint::text is null or fingerprint = :fingerprint::text)
      and (:cause::text is null or cause = :cause::text)
      and (:buried_from::timestamptz is null or buried_at >= :buried_from::timestamptz)
      and (:buried_to::timestamptz is null or buried_at < :buried_to::timestamptz)
      and (:ids::bigint[] is null or id = any (:ids::bigint[]))
    order by id desc
    limit :window
)
select owner, event_type, error_class, fingerprint, count(*) as letters, min(buried_at) as first_buried_at,
       max(buried_at) as last_buried_at, count(distinct key_hash) as keys, count(distinct coalesce(tenant_id, '')) as tenants,
       max(id) as sample_id, (array_agg(error order by id desc))[1] as sample_error
from newest
group by owner, event_type, error_class, fingerprint
order by letters desc, sample_id desc
limit :limit
