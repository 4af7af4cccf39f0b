-- When a position was given out. Thinned ticks answer to the second. Index: the primary key.
--   :position bigint
select at
from /*schema*/tick
where position >= :position
order by position
limit 1
