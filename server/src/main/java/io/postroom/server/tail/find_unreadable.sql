-- How many messages of a tail cannot be read here, where the first one is and why.
--   :subscription text
-- Index: delivery_sending; a tail has one lane.
select count(*), coalesce(min(position), 0), (array_agg(error order by position))[1]
from /*schema*/delivery
where subscription = :subscription and lane = 0 and state = 'unreadable'
