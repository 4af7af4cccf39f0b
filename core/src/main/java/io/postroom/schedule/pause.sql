-- Let a schedule fire no more, or leave it paused as it is.
--   :name text   :actor text   :reason text
update /*schema*/schedule
set paused_at = clock_timestamp(), paused_by = :actor, pause_reason = :reason
where name = :name and paused_at is null
