-- Remember when a lane was settled this far, and by whom.
--   :subscription text   :lane int   :position bigint   :node text
insert into /*schema*/settlement (subscription, lane, position, node)
select l.subscription, l.lane, :position, :node
from /*schema*/lane as l
where l.subscription = :subscription and l.lane = :lane
on conflict (subscription, lane, position) do nothing
