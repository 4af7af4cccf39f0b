-- The next open dead letters that fit a filter, in the order of their ids.
--   the parameters of deadletter/filter.sql
--   :after bigint, exclusive   :up_to bigint   :limit int
-- Index: dead_letter_list for one owner, else the primary key; each look goes on where the last one ended.
select d.id, d.source
from /*schema*/dead_letter as d
where d.resolution is null and d.id > :after and d.id <= :up_to
  /*filter*/
order by d.id
limit :limit
