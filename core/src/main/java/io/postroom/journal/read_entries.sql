-- Read the next entries of one lane, narrow rows only, and in any case the one at :up_to, whose lane it may not be: if that is
-- missing, the journal ends earlier than the caller believes.
--   :after bigint, exclusive   :up_to bigint   :first_day date   :last_day date   :lanes int   :lane int   :limit int
-- first_day and last_day prune the partitions; positions grow with the days.
-- Index: the unique one on position that each partition has.
select position, day, seq, outbox_day, bytes, key_hash, key_hash % :lanes = :lane as mine
from /*schema*/journal
where position > :after and position <= :up_to
  and day between :first_day and :last_day
  and (key_hash % :lanes = :lane or position = :up_to)
order by position
limit :limit
