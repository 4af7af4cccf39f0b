-- Every lane with how far it is, how far it is behind, and which relay has it. A lease that ran out is nobody's.
--   :subscription text?, the lanes of one subscription only
select l.subscription, l.lane, l.position, greatest(head.position - l.position, 0) as lag_messages,
       coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)::double precision as lag_seconds,
       l.owner, r.name as owner_name, l.leased_until,
       extract(epoch from l.leased_until - clock_timestamp())::double precision as lease_seconds, l.fence
from /*schema*/lane as l
left join /*schema*/relay as r on r.id = l.owner
cross join (select position from /*schema*/tick order by position desc limit 1) as head
left join lateral (
    select at from /*schema*/tick where position > l.position order by position limit 1
) as waiting on true
where :subscription::text is null or l.subscription = :subscription::text
order by l.subscription, l.lane
