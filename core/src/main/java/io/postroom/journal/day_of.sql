-- A day no later than that of any entry after a position: where a lane begins to read.
--   :position bigint
select day
from /*schema*/tick
where position <= :position
order by position desc
limit 1
