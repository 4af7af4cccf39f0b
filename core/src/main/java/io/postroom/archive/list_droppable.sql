-- Archived days that are older than they are kept, oldest first.
--   :kept double precision, seconds   :limit int
select day
from /*schema*/archive_day
where dropped_at is null and day < (clock_timestamp() at time zone 'utc' - make_interval(secs => :kept))::date
order by day
limit :limit
