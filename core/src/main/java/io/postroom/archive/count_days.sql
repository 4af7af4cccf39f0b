-- How many days are archived, how many are old enough for it and are not, and how many of the archived are older than they are kept.
--   :older_than double precision, seconds   :kept double precision, seconds
-- The last two days on which something was stamped are not archived, however old they are: a system without traffic is not stuck.
select (select count(*) from /*schema*/archive_day as d where d.dropped_at is null) as archived,
       (select count(*)
        from /*schema*/hot_days() as hot (day)
        where hot.day < (clock_timestamp() at time zone 'utc' - make_interval(secs => :older_than))::date
          and hot.day <= (select t.day from /*schema*/tick as t order by t.position desc limit 1) - 2) as stuck,
       (select count(*)
        from /*schema*/archive_day as d
        where d.dropped_at is null
          and d.day < (clock_timestamp() at time zone 'utc' - make_interval(secs => :kept))::date) as undropped
