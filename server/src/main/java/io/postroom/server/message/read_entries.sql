-- Where the messages of some positions lie that are not archived, newest first; only those of one key hash, where it is given.
--   :after bigint, exclusive   :before bigint, exclusive   :key_hash bigint?   :limit int
-- Index: the unique one on position that each partition has; the positions bound what is read.
select position, seq, outbox_day, bytes
from /*schema*/journal
where position > :after and position < :before and (:key_hash::bigint is null or key_hash = :key_hash::bigint)
order by position desc
limit :limit
