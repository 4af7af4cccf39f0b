-- Ask for another number of lanes, or no longer. For a subscription that is locked.
--   :name text   :lanes int?
update /*schema*/subscription
set lanes_wanted = :lanes::integer
where name = :name
