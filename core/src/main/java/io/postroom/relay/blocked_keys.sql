-- The keys of a lane whose later messages must not be sent before earlier ones.
--   :subscription text   :lane int
select distinct key_hash
from /*schema*/delivery
where subscription = :subscription and lane = :lane and state <> 'scheduled'
