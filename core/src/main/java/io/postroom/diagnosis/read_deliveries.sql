-- The deliveries of a message, one for each subscription it did not go through to at once. Index: the primary key.
--   :subscriptions text[]   :position bigint
select subscription, lane, state, due_at, attempts, crashes, sending_since, sending_by, error_class, error, dead_letter, created_at
from /*schema*/delivery
where subscription = any (:subscriptions) and position = :position
