-- Where the message at a position lies in the outbox or its archive.
--   :position bigint
-- Index: the unique one on position that each partition has.
select seq, outbox_day
from /*schema*/journal
where position = :position
union all
select seq, outbox_day
from /*schema*/journal_archive
where position = :position
limit 1
