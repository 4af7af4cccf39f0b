-- Give the deliveries of a subscription to the lanes that their keys have now. For lanes that are locked.
--   :name text   :lanes int
update /*schema*/delivery
set lane = key_hash % :lanes
where subscription = :name and lane <> key_hash % :lanes
