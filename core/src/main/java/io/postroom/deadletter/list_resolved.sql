-- A page of dead letters that were redriven or discarded and fit a filter, last resolved first, without their payloads.
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
--   :resolution text?   :before bigint?, the last id of the page before   :limit int
-- A page of each resolution, and of these the last: so that few of one kind are found among many of the other.
-- Index: dead_letter_owner_resolved for one owner, else dead_letter_resolved.
select d.id, d.source, d.owner, d.position, d.message_id, d.tenant_id, d.aggregate_type, d.aggregate_id, d.event_type,
       d.cause, d.attempts, d.error_class, d.error, d.fingerprint, d.buried_at, d.buried_by,
       d.resolution, d.resolved_at, d.resolved_by, d.redrive, d.patched
from (values ('redriven'), ('discarded')) as wanted (resolution)
cross join lateral (
    select d.id, d.source, d.owner, d.position, d.message_id, d.tenant_id, d.aggregate_type, d.aggregate_id, d.event_type,
           d.cause, d.attempts, d.error_class, d.error, d.fingerprint, d.buried_at, d.buried_by,
           d.resolution, d.resolved_at, d.resolved_by, d.redrive, d.patched is not null as patched
    from /*schema*/dead_letter as d
    where d.resolution = wanted.resolution and d.resolution is not null
      and (:before::bigint is null
           or (d.resolved_at, d.id)
              < ((select last.resolved_at from /*schema*/dead_letter as last where last.id = :before::bigint), :before::bigint))
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
    order by d.resolved_at desc, d.id desc
    limit :limit
) as d
where :resolution::text is null or wanted.resolution = :resolution::text
order by d.resolved_at desc, d.id desc
limit :limit
