-- Open dead letters that fit a filter and are to be redriven before some that were found: of the same keys, at lower positions. Only where one
-- of them was buried after all that go together now; those are sent in order. A page, by position.
--   the parameters of deadletter/filter.sql
--   :found bigint[]   :after bigint, exclusive   :last bigint, of those that go together   :up_to bigint
--   :past bigint, the last id of the page before, or 0   :limit int
-- Keys that share a hash keep one order. Of a key with many it is enough to look at :limit: fewer than those are among the found ones, so
-- that one which was buried later is seen if there is any. Index: the primary key, dead_letter_key.
-- OFFSET is a fence: without statistics a planner takes an owner, or a stretch of ids, for a handful, and reads
-- all of it for each key. So it would if the page were within.
with key_of_found as materialized (
    select d.owner, d.key_hash, max(d.position) as position
    from /*schema*/dead_letter as d
    where d.id = any (:found::bigint[]) and (select s.ordering from /*schema*/subscription as s where s.name = d.owner) = 'key'
    group by d.owner, d.key_hash
),
earlier as materialized (
    select e.id, e.position, bool_or(e.id > :last) over (partition by k.owner, k.key_hash) as late
    from key_of_found as k
    cross join lateral (
        select d.id, d.position
        from (
            select *
            from /*schema*/dead_letter
            where resolution is null and owner = k.owner and key_hash = k.key_hash and position < k.position
            offset 0
        ) as d
        where d.source = 'subscription' and d.id > :after and d.id <= :up_to
          and (d.position, d.id)
              > (coalesce((select past.position from /*schema*/dead_letter as past where past.id = :past::bigint), -1), :past::bigint)
          /*filter*/
        order by d.position
        limit :limit
    ) as e
)
select id
from earlier
where late
order by position, id
limit :limit
