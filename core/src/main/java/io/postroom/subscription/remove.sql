-- Remove a subscription with its lanes, deliveries and circuits. For one that is locked.
--   :name text
delete from /*schema*/subscription
where name = :name
