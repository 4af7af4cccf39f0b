-- Let a paused schedule fire again. What has passed meanwhile is left out.
--   :name text   :next_at timestamptz?
update /*schema*/schedule
set paused_at = null, paused_by = null, pause_reason = null, next_at = case when next_at is null then null else :next_at::timestamptz end
where name = :name and paused_at is not null
