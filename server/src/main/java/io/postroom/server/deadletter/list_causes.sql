-- Open dead letters by what went wrong, those that fit among the newest: the greatest groups first, and how many were looked at. Always a
-- row, without a group if nothing fits.
--   :window int, how many are looked at   :limit int, how many groups
--   the parameters of deadletter/filter.sql in core, of which :owner text? and :ids bigint[]? say where to look
-- Index: dead_letter_list where an owner is given, else dead_letter_newest from its end. Nothing else has an index that helps, so the
-- rest of the filter is for those looked at. Keys are counted by their hashes. Errors are long, so only those that are shown are read.
with newest as materialized (
    select id, owner, source, event_type, error_class, fingerprint, tenant_id, aggregate_type, aggregate_id, key_hash, cause, buried_at
    from /*schema*/dead_letter
    where resolution is null
      and (:owner::text is null or owner = :owner::text)
      and (:ids::bigint[] is null or id = any (:ids::bigint[]))
    order by id desc
    limit :window
),
groups as materialized (
    select owner, source = 'job' as of_jobs, event_type, error_class, fingerprint, count(*) as letters, min(buried_at) as first_buried_at,
           max(buried_at) as last_buried_at, count(distinct key_hash) as keys, count(distinct coalesce(tenant_id, '')) as tenants,
           max(id) as sample_id
    from newest as d
    where true
      /*filter*/
    group by owner, of_jobs, event_type, error_class, fingerprint
    order by letters desc, sample_id desc
    limit :limit
)
select looked.at as looked_at, g.owner, g.of_jobs, g.event_type, g.error_class, g.fingerprint, g.letters, g.first_buried_at,
       g.last_buried_at, g.keys, g.tenants, g.sample_id, d.error as sample_error
from (select count(*) as at from newest) as looked
left join groups as g on true
left join /*schema*/dead_letter as d on d.id = g.sample_id
order by g.letters desc, g.sample_id desc
