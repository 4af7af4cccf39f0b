-- Give a lane back. Zero rows: another relay has it already.
--   :subscription text   :lane int   :relay_id uuid   :fence bigint
update /*schema*/lane
set owner = null, leased_until = null
where subscription = :subscription and lane = :lane and owner = :relay_id and fence = :fence
