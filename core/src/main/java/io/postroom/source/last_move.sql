-- The last move of a subscription to Kafka that was switched: how it is served there, or was.
--   :name text
-- Index: none; the moves of one subscription are few.
select id, subscription, target, feed, topics, group_id, position, offsets, actor, reason, noted_at
from /*schema*/subscription_move
where subscription = :name and target = 'kafka' and outcome = 'done'
order by id desc
limit 1
