-- Note how far jobs are that still run under these fences.
--   :ids bigint[], in ascending order   :fences bigint[], of these   :progress text[], JSON, of these
-- Those that somebody has locked are left out until the next time. Index: the primary key.
with mine as materialized (
    select j.id
    from /*schema*/job as j
    where j.id = any (:ids::bigint[]) and j.fence = (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])]
    for update skip locked
)
update /*schema*/job as j
set progress = (:progress::text[])[width_bucket(j.id, :ids::bigint[])]::json
where j.id = any (array(select mine.id from mine))
returning j.id
