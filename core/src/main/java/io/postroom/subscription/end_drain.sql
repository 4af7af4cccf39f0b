-- Relays may take the lanes of a subscription again.
--   :name text
update /*schema*/subscription
set drain_until = null
where name = :name and drain_until is not null
