-- The keys of a lane whose later messages must not be sent before earlier ones. Index: delivery_head.
--   :subscription text   :lane int
-- Whatever is parked is so behind one that is not.
select distinct key_hash
from /*schema*/delivery
where subscription = :subscription and lane = :lane and state in ('waiting', 'sending', 'held', 'unreadable')
