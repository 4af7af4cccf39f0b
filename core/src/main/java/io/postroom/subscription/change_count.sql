-- A subscription has another number of lanes. For one that is locked, with its lanes.
--   :name text   :lanes int   :former_positions bigint[], where the old lanes were; empty if all at one place
-- What is remembered of when the old lanes were where says nothing of the new ones.
with forgotten as (
    delete from /*schema*/settlement where subscription = :name
)
update /*schema*/subscription
set lanes = :lanes, lanes_wanted = null, former_positions = nullif(:former_positions::bigint[], '{}')
where name = :name
