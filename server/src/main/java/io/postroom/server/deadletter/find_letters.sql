-- Ids of open dead letters that fit, among the newest before one, newest first; how many were looked at, and the oldest of those.
--   :window int, how many are looked at   :before bigint, exclusive   :limit int
--   the parameters of deadletter/filter.sql in core, of which :owner text? and :ids bigint[]? say where to look
-- Index: dead_letter_list where an owner is given, else dead_letter_newest from its end. Nothing else has an index that helps.
with newest as materialized (
    select id, owner, source, event_type, error_class, fingerprint, tenant_id, aggregate_type, aggregate_id, cause, buried_at
    from /*schema*/dead_letter
    where resolution is null and id < :before
      and (:owner::text is null or owner = :owner::text)
      and (:ids::bigint[] is null or id = any (:ids::bigint[]))
    order by id desc
    limit :window
)
select count(*) as looked_at, coalesce(min(id), 0) as oldest, array(
    select id
    from newest as d
    where true
      /*filter*/
    order by id desc
    limit :limit
) as found
from newest
