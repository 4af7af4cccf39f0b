-- The messages beyond a lane's position that are not to be read again: they have a delivery, or were given up. What was given up in a
-- stretch that is replayed is sent again like everything else. Also what a source has given up while a broker served; numbers that are no
-- positions of the journal lie beyond all of them. A subscription that was removed and made again owes nothing to what was given up before
-- it: it gets everything from its start on. Index: the primary key, dead_letter_position.
--   :subscription text   :lane int   :position bigint   :lanes int   :resume_at bigint, zero if nothing is replayed
select position
from /*schema*/delivery
where subscription = :subscription and lane = :lane and position > :position
union
select position
from /*schema*/dead_letter
where owner = :subscription and position > greatest(:position::bigint, :resume_at::bigint) and position < 4611686018427387904
  and source <> 'job' and key_hash % :lanes = :lane
  and buried_at >= (select created_at from /*schema*/subscription where name = :subscription)
