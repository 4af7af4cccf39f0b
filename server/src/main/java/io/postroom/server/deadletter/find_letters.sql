-- Ids of open dead letters that fit, among the newest before one, newest first; how many were looked at, and the oldest of those.
--   :window int, how many are looked at   :before bigint, exclusive   :limit int
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive   :ids bigint[]?
-- Index: dead_letter_list where an owner is given, else dead_letter_newest from its end. Nothing else has an index that helps.
with newest as materialized (
    select id, source, event_type, error_class, fingerprint, tenant_id, aggregate_type, aggregate_id, cause, buried_at
    from /*schema*/dead_letter
    where resolution is null and id < :before
      and (:owner::text is null or owner = :owner::text)
      and (:ids::bigint[] is null or id = any (:ids::bigint[]))
    order by id desc
    limit :window
)
select count(*) as looked_at, coalesce(min(id), 0) as oldest, array(
    select id
    from newest
    where (:sources::text[] is null or source = any (:sources::text[]))
      and (:event_types::text[] is null or event_type = any (:event_types::text[]))
      and (:tenants::text[] is null or tenant_id = any (:tenants::text[]))
      and (:aggregate_type::text is null or aggregate_type = :aggregate_type::text)
      and (:aggregate_id::text is null or aggregate_id = :aggregate_id::text)
      and (:error_class::text is null or error_class = :error_class::text)
      and (:fingerprint::text is null or fingerprint = :fingerprint::text)
      and (:cause::text is null or cause = :cause::text)
      and (:buried_from::timestamptz is null or buried_at >= :buried_from::timestamptz)
      and (:buried_to::timestamptz is null or buried_at < :buried_to::timestamptz)
    order by id desc
    limit :limit
) as found
from newest
