-- Where the message at a position lies that is not archived.
--   :position bigint
-- Index: the unique one on position that each partition has.
select seq, outbox_day
from /*schema*/journal
where position = :position
