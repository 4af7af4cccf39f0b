-- The last position of the archived days before a day; zero if they have none.
--   :day date
select coalesce(max(last_position), 0)
from /*schema*/archive_day
where day < :day
