-- One archived day with what it takes on disk, as list.sql shows all of them; also one that was dropped.
--   :day date
-- Index: the primary key.
select d.day, d.first_position, d.last_position, d.passed_at, d.archived_at, d.dropped_at,
       case when d.dropped_at is null
            then coalesce(pg_total_relation_size(to_regclass('/*schema*/outbox_' || to_char(d.day, 'YYYYMMDD'))), 0)
                 + coalesce(pg_total_relation_size(to_regclass('/*schema*/journal_' || to_char(d.day, 'YYYYMMDD'))), 0)
            else 0
       end as bytes
from /*schema*/archive_day as d
where d.day = :day
