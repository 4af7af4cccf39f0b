-- End the pause of a subscription. For one that is locked.
--   :name text
update /*schema*/subscription
set paused_at = null, paused_by = null, pause_reason = null
where name = :name
