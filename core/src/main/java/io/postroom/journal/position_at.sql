-- The last position given out before a time, and the day of its stamp.
--   :at timestamptz
select position, day
from /*schema*/tick
where at <= :at
order by position desc
limit 1
