-- When a lane was first known to be settled past a position, and by whom. Index: the primary key.
--   :subscription text   :lane int   :position bigint
select at, node
from /*schema*/settlement
where subscription = :subscription and lane = :lane and position >= :position
order by position
limit 1
