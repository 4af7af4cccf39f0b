-- Open dead letters of sources that fit a filter and are to be redriven before some that were found: of the same keys, with lower turns. Only
-- where one of them was buried after all that go together now; those are applied in order. A page, by turn.
--   the parameters of deadletter/filter.sql
--   :found bigint[]   :after bigint, exclusive   :last bigint, of those that go together   :up_to bigint
--   :past bigint, the last id of the page before, or 0   :limit int
-- Of a key with many it is enough to look at :limit, as for those of the journal. Index: the primary key, dead_letter_turn.
-- OFFSET is a fence: without statistics a planner takes an owner, or a stretch of ids, for a handful, and reads all of it for each key.
with key_of_found as materialized (
    select d.owner, d.key_hash, max(d.turn) as turn
    from /*schema*/dead_letter as d
    where d.id = any (:found::bigint[])
    group by d.owner, d.key_hash
),
earlier as materialized (
    select e.id, e.turn, bool_or(e.id > :last) over (partition by k.owner, k.key_hash) as late
    from key_of_found as k
    cross join lateral (
        select d.id, d.turn
        from (
            select *
            from /*schema*/dead_letter
            where resolution is null and source = 'kafka' and owner = k.owner and key_hash = k.key_hash and turn < k.turn
              and (turn, id)
                  > (coalesce((select past.turn from /*schema*/dead_letter as past where past.id = :past::bigint), -1), :past::bigint)
            offset 0
        ) as d
        where d.id > :after and d.id <= :up_to
          /*filter*/
        order by d.turn, d.id
        limit :limit
    ) as e
)
select id
from earlier
where late
order by turn, id
limit :limit
