-- Put all lanes of a subscription at a position, or leave them where they are. For lanes that are locked and that no live relay has.
--   :name text   :position bigint?
-- A new fence: a relay that lost its lease long ago and wakes up may find the very position it left, though it serves no more.
update /*schema*/lane
set position = coalesce(:position::bigint, position), replay_to = null, resume_at = null, fence = fence + 1
where subscription = :name
