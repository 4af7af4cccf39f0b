-- Read the next entries of one lane in an archived day, as read_entries.sql does in the journal.
--   :after bigint, exclusive   :up_to bigint   :day date   :lanes int   :lane int   :limit int
-- Index: the unique one on position that each partition has.
select position, day, seq, outbox_day, bytes, key_hash, key_hash % :lanes = :lane as mine
from /*schema*/journal_archive
where position > :after and position <= :up_to
  and day = :day
  and (key_hash % :lanes = :lane or position in (:after + 1, :up_to))
order by position
limit :limit
