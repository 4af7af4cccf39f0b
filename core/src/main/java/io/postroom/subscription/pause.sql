-- Pause a subscription: its relays give the lanes back and take none. For one that is locked and not paused.
--   :name text   :actor text   :reason text
update /*schema*/subscription
set paused_at = clock_timestamp(), paused_by = :actor, pause_reason = :reason
where name = :name
returning paused_at
