-- The last position given out, and the day of its stamp.
select position, day
from /*schema*/tick
order by position desc
limit 1
