-- Where the messages of some positions lie that are archived, as read_entries.sql says of the others.
--   :after bigint, exclusive   :before bigint, exclusive   :key_hash bigint?   :limit int
--   :first_day date   :last_day date, the archived days of these positions
-- Index: the unique one on position that each partition has.
select position, seq, outbox_day, bytes
from /*schema*/journal_archive
where position > :after and position < :before and day between :first_day and :last_day
  and (:key_hash::bigint is null or key_hash = :key_hash::bigint)
order by position desc
limit :limit
