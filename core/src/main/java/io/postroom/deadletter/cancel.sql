-- End a redrive that has not ended. No row: it has, or there is none.
--   :id uuid   :note text
-- Waits for a step that is being made; the next one finds it ended.
update /*schema*/redrive
set state = 'cancelled', ended_at = clock_timestamp(), note = :note
where id = :id and ended_at is null
