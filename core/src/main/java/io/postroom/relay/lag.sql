-- How far each subscription is behind: positions between its slowest lane and the journal's end, messages without a position, and since
-- when they wait. None where a broker serves it.
--   :subscriptions text[]   :count_max int, messages without a position are counted no further
select l.subscription,
       case when l.served then greatest(t.position - l.position, 0) + unstamped.messages else 0 end as messages,
       case when l.served then coalesce(extract(epoch from clock_timestamp() - least(waiting.at, unstamped.since)), 0) else 0
       end::double precision as seconds
from (
    select l.subscription, s.served_by = 'postgres' as served, min(l.position) as position
    from /*schema*/lane as l
    join /*schema*/subscription as s on s.name = l.subscription
    where l.subscription = any (:subscriptions)
    group by l.subscription, s.served_by
) as l
cross join (select position from /*schema*/tick order by position desc limit 1) as t
cross join /*schema*/unstamped(:count_max) as unstamped
left join lateral (
    select at from /*schema*/tick where position > l.position order by position limit 1
) as waiting on true
