-- The archived day that a position lies in, up to where it goes, and whether it was dropped since; no row if it is not archived.
--   :position bigint
-- Index: archive_day_position.
select day, last_position, dropped_at is not null as dropped
from /*schema*/archive_day
where last_position >= :position and first_position <= :position
order by last_position
limit 1
