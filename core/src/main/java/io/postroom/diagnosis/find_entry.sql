-- The journal's entry for a message, archived or not, within some positions. There is no index on seq: the positions bound what is read.
--   :seq bigint   :outbox_day date   :after bigint, exclusive   :up_to bigint   :first_day date   :last_day date
-- Index: the unique one on position that each partition has.
select position, key_hash
from /*schema*/journal
where position > :after and position <= :up_to and day between :first_day and :last_day
  and seq = :seq and outbox_day = :outbox_day
union all
select position, key_hash
from /*schema*/journal_archive
where position > :after and position <= :up_to and day between :first_day and :last_day
  and seq = :seq and outbox_day = :outbox_day
limit 1
