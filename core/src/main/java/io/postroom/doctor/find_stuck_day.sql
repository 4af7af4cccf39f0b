-- The oldest day that is not archived, if others were archived days younger than it is now: since then somebody or something is in the way.
-- No row where nothing is archived, or nothing is stuck.
--   :margin int, days
-- How old days are when they are archived is told by the last ones that were. Who is asked after: small tables, and indexes of one day.
select oldest.day, usual.days,
       (select string_agg(format('%s %s at %s', n.kind, n.name, n.position), ', ')
        from /*schema*/day_needs(oldest.day, /*schema*/passed_at(oldest.day), false, 5) as n) as need
from (
    select min((last.archived_at at time zone 'utc')::date - last.day) as days
    from (select day, archived_at from /*schema*/archive_day order by day desc limit 10) as last
) as usual
cross join (select min(hot.day) as day from /*schema*/hot_days() as hot (day)) as oldest
where (clock_timestamp() at time zone 'utc')::date - oldest.day > usual.days + :margin
