-- Who needs an archived day; null if nobody does. No row if it is not archived, or was dropped.
--   :day date
select (select string_agg(format('%s %s at %s', n.kind, n.name, n.position), ', ')
        from /*schema*/day_needs(d.day, d.passed_at, true, 5) as n) as need,
       (select min(e.day) from /*schema*/archive_day as e where e.dropped_at is null) as oldest
from /*schema*/archive_day as d
where d.day = :day and d.dropped_at is null
