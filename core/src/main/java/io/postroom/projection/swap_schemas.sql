-- Give the live schema's name to the candidate's.
--   :live text   :former text   :candidate text
-- Locks no table: readers in flight go on in the tables they have, and the next statement of each finds the others.
select /*schema*/swap_schemas(:live, :former, :candidate)
