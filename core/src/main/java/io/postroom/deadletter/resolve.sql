-- Resolve dead letters that are still open, once and for all. Says which.
--   :ids bigint[]   :patched text[]?, JSON for each of them, or null   :resolution text   :actor text   :redrive uuid
-- Compare and set. Locks: the rows, in the order of their ids, so that two who resolve the same do not wait for each other in a ring.
with open as materialized (
    select id
    from /*schema*/dead_letter
    where id = any (:ids) and resolution is null
    order by id
    for update
)
update /*schema*/dead_letter as d
set resolution = :resolution, resolved_at = clock_timestamp(), resolved_by = :actor, redrive = :redrive, patched = given.patched::json
from open
join unnest(:ids::bigint[], :patched::text[]) as given (id, patched) on given.id = open.id
where d.id = open.id and d.resolution is null
returning d.id
