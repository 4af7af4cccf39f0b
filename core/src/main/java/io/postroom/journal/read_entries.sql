-- Read the next entries of one lane, narrow rows only, and in any case the ones at both ends, whose lane it may not be. If the one at
-- :up_to is missing, the journal ends earlier than the caller believes. If the one after :after is, its day has left the journal.
--   :after bigint, exclusive   :up_to bigint   :first_day date   :last_day date   :lanes int   :lane int   :limit int
-- first_day and last_day prune the partitions; positions grow with the days.
-- Index: the unique one on position that each partition has.
select position, day, seq, outbox_day, bytes, key_hash, key_hash % :lanes = :lane as mine
from /*schema*/journal
where position > :after and position <= :up_to
  and day between :first_day and :last_day
  and (key_hash % :lanes = :lane or position in (:after + 1, :up_to))
order by position
limit :limit
