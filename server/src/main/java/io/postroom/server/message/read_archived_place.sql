-- Where the message at a position lies that is archived.
--   :position bigint   :first_day date   :last_day date, the archived days of this position
-- Index: the unique one on position that each partition has.
select seq, outbox_day
from /*schema*/journal_archive
where position = :position and day between :first_day and :last_day
