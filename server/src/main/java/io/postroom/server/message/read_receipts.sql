-- Which consumers of this database have accepted a message.
--   :message_id uuid   :limit int
-- Index: the primary key of the partition of the id's day.
select consumer, accepted_at
from /*schema*/inbox
where message_id = :message_id and day = /*schema*/inbox_day(:message_id)
order by accepted_at
limit :limit
