-- Days that are old enough to be archived, oldest first, where they end, and who needs them.
--   :older_than double precision, seconds   :limit int
select due.day, due.passed_at,
       (select string_agg(format('%s %s at %s', n.kind, n.name, n.position), ', ')
        from /*schema*/day_needs(due.day, due.passed_at, false, 5) as n) as need
from (
    select hot.day, /*schema*/passed_at(hot.day) as passed_at
    from /*schema*/hot_days() as hot (day)
    where hot.day < (clock_timestamp() at time zone 'utc' - make_interval(secs => :older_than))::date
    order by hot.day
    limit :limit
) as due
order by due.day
