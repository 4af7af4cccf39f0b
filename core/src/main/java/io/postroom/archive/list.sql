-- Archived days, newest first, with what they take on disk. Also those that were dropped, if they are wanted.
--   :dropped text, true or false   :limit int
-- A day that another process drops at this moment has no size: sizes are asked by name.
select d.day, d.first_position, d.last_position, d.passed_at, d.archived_at, d.dropped_at,
       case when d.dropped_at is null
            then coalesce(pg_total_relation_size(to_regclass('/*schema*/outbox_' || to_char(d.day, 'YYYYMMDD'))), 0)
                 + coalesce(pg_total_relation_size(to_regclass('/*schema*/journal_' || to_char(d.day, 'YYYYMMDD'))), 0)
            else 0
       end as bytes
from /*schema*/archive_day as d
where :dropped::boolean or d.dropped_at is null
order by d.day desc
limit :limit
