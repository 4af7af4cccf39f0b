-- Switch who serves a subscription. For one that was taken, and whose lanes nobody has.
--   :name text   :served_by text
update /*schema*/subscription
set served_by = :served_by, former_positions = null
where name = :name
