-- How many messages up to a position a feed has given up on: neither the broker has them, nor do they wait. To be asked after what waits was
-- put down, in a statement of its own: the feed may give up in between.
--   :feed text   :position bigint
-- Index: dead_letter_position.
select count(*)
from /*schema*/dead_letter
where source = 'subscription' and owner = :feed and position <= :position and resolution is null
