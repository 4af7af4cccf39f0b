-- How many open dead letters fit a filter, up to a limit, of how many keys and tenants, and their ids, the newest first.
--   :letters_max int
--   the parameters of deadletter/filter.sql
-- Index: dead_letter_aggregate, dead_letter_list, dead_letter_group or dead_letter_newest, backwards. Where few of many fit, all are looked
-- at.
with letter as materialized (
    select d.id, d.key_hash, d.tenant_id, d.buried_at
    from /*schema*/dead_letter as d
    where d.resolution is null
      /*filter*/
    order by d.id desc
    limit :letters_max
)
select count(*) as letters, count(distinct key_hash) as keys, count(distinct tenant_id) as tenants, min(buried_at) as first_buried_at,
       max(buried_at) as last_buried_at, coalesce(max(id), 0) as id_max, array(select id from letter order by id desc) as ids
from letter
