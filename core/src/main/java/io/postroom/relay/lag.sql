-- How far each subscription is behind: positions between its slowest lane and the journal's end, and since when they wait.
--   :subscriptions text[]
select l.subscription, greatest(t.position - l.position, 0) as messages,
       coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)::double precision as seconds
from (
    select subscription, min(position) as position
    from /*schema*/lane
    where subscription = any (:subscriptions)
    group by subscription
) as l
cross join (select position from /*schema*/tick order by position desc limit 1) as t
left join lateral (
    select at from /*schema*/tick where position > l.position order by position limit 1
) as waiting on true
