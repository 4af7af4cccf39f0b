-- Leave the last settlement of each lane and minute of those older than a while, and none that are too old.
--   :kept_whole double precision, seconds   :kept double precision, seconds   :limit int
-- Those of an hour ago are looked at once more each time: a minute may have been cut in two. Index: settlement_at.
delete from /*schema*/settlement as s
using (
    select old.subscription, old.lane, old.position
    from (
        select o.subscription, o.lane, o.position, o.at,
               row_number() over (partition by o.subscription, o.lane, date_trunc('minute', o.at) order by o.position desc) as nth
        from /*schema*/settlement as o
        where o.at < date_trunc('minute', clock_timestamp() - make_interval(secs => :kept_whole))
    ) as old
    where old.nth > 1 or old.at < clock_timestamp() - make_interval(secs => :kept)
    limit :limit
) as gone
where s.subscription = gone.subscription and s.lane = gone.lane and s.position = gone.position
