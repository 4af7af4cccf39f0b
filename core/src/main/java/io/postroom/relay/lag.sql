-- How far each subscription is behind: positions between its slowest lane and the journal's end, and since when they wait. None where a
-- broker serves it.
--   :subscriptions text[]
select l.subscription, greatest(t.position - l.position, 0) as messages,
       coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)::double precision as seconds
from (
    select l.subscription, case when s.served_by = 'postgres' then min(l.position) else 9223372036854775807 end as position
    from /*schema*/lane as l
    join /*schema*/subscription as s on s.name = l.subscription
    where l.subscription = any (:subscriptions)
    group by l.subscription, s.served_by
) as l
cross join (select position from /*schema*/tick order by position desc limit 1) as t
left join lateral (
    select at from /*schema*/tick where position > l.position order by position limit 1
) as waiting on true
