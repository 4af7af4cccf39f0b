-- A page of dead letters that were redriven or discarded and fit a filter, last resolved first, without their payloads.
--   the parameters of deadletter/filter.sql
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
      /*filter*/
    order by d.resolved_at desc, d.id desc
    limit :limit
) as d
where :resolution::text is null or wanted.resolution = :resolution::text
order by d.resolved_at desc, d.id desc
limit :limit
