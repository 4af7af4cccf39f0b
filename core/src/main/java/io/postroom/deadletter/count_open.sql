-- Open dead letters of each owner by type and cause: how many there are, counted up to a limit for each owner.
--   :count_max int, for each owner   :limit int, owners
-- Steps from owner to owner, and reads nothing but the index. Index: dead_letter_list, dead_letter_group.
with recursive owners as (
    (select owner, 1 as number from /*schema*/dead_letter where resolution is null order by owner limit 1)
    union all
    select next.owner, owners.number + 1
    from owners
    cross join lateral (
        select d.owner from /*schema*/dead_letter as d where d.resolution is null and d.owner > owners.owner order by d.owner limit 1
    ) as next
    where owners.number < :limit
)
select letter.source, owners.owner, letter.event_type, letter.cause, count(*) as letters
from owners
cross join lateral (
    select d.source, d.event_type, d.cause
    from /*schema*/dead_letter as d
    where d.owner = owners.owner and d.resolution is null
    -- As the index has it: so that the planner takes no other way.
    order by d.fingerprint, d.event_type
    limit :count_max
) as letter
group by letter.source, owners.owner, letter.event_type, letter.cause
order by owners.owner, letter.source, letter.event_type, letter.cause
