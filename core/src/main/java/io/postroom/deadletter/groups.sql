-- Open dead letters that fit a filter, by what they have in common, the greatest groups first.
--   the parameters of deadletter/filter.sql
--   :by text[], some of owner, type, error, tenant, key, cause   :limit int
-- Keys are counted by a hash of 64 bits: no sort of texts.
with grouped as materialized (
    select case when 'owner' = any (:by::text[]) then d.owner end as owner,
           'owner' = any (:by::text[]) and d.source = 'job' as of_jobs,
           case when 'type' = any (:by::text[]) then d.event_type end as event_type,
           case when 'error' = any (:by::text[]) then d.error_class end as error_class,
           case when 'error' = any (:by::text[]) then d.fingerprint end as fingerprint,
           case when 'cause' = any (:by::text[]) then d.cause end as cause,
           case when array['tenant', 'key'] && :by::text[] then d.tenant_id end as tenant_id,
           case when 'key' = any (:by::text[]) then d.aggregate_type end as aggregate_type,
           case when 'key' = any (:by::text[]) then d.aggregate_id end as aggregate_id,
           count(*) as letters, min(d.buried_at) as first_buried_at, max(d.buried_at) as last_buried_at,
           count(distinct hashtextextended(d.aggregate_id, hashtextextended(d.aggregate_type,
                                                                            hashtextextended(coalesce(d.tenant_id, ''), 0)))) as keys,
           count(distinct d.tenant_id) as tenants, max(d.id) as sample_id
    from /*schema*/dead_letter as d
    where d.resolution is null
      /*filter*/
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    order by letters desc, sample_id desc
    limit :limit
)
select g.owner, g.of_jobs, g.event_type, g.error_class, g.fingerprint, g.cause, g.tenant_id, g.aggregate_type, g.aggregate_id, g.letters,
       g.first_buried_at, g.last_buried_at, g.keys, g.tenants, g.sample_id, sample.error as sample_error
from grouped as g
join /*schema*/dead_letter as sample on sample.id = g.sample_id
order by g.letters desc, g.sample_id desc
