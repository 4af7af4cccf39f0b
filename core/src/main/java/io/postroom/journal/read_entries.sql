-- Read the next entries of some lanes, narrow rows only.
--   :after bigint, exclusive   :up_to bigint   :first_day date   :last_day date   :lanes int   :lane int   :limit int
-- first_day and last_day prune the partitions; positions grow with the days.
-- Index: the unique one on position that each partition has.
select position, day, seq, outbox_day, bytes
from /*schema*/journal
where position > :after and position <= :up_to
  and day between :first_day and :last_day
  and key_hash % :lanes = :lane
order by position
limit :limit
