-- How far a consumer is in its partitions.
--   :consumer text
-- Index: the primary key; partitions are few.
select partition, topic_id, began_offset, next_offset, leader_epoch
from /*schema*/source_offset
where consumer = :consumer
