-- The move of a subscription that has begun and not ended.
--   :name text
-- Index: subscription_move_open.
select id, subscription, target, feed, topics, group_id, position, offsets, actor, reason, noted_at
from /*schema*/subscription_move
where subscription = :name and ended_at is null
