-- Every lane with how far it is, how far it is behind, and which relay has it. A lease that ran out is nobody's.
--   :name text?, the lanes of one subscription only
select l.subscription, l.lane, l.position,
       case when s.served_by <> 'postgres' then 0
            else greatest(case when s.copy_of is null then head.position else coalesce(l.replay_to, l.position) end - l.position, 0)
       end as lag_messages,
       case when s.served_by <> 'postgres' or s.copy_of is not null and l.replay_to is null then 0
            else coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)
       end::double precision as lag_seconds,
       l.owner, r.name as owner_name, l.leased_until,
       coalesce(extract(epoch from l.leased_until - clock_timestamp()), 0)::double precision as lease_seconds, l.fence,
       l.replay_to, l.resume_at
from /*schema*/lane as l
join /*schema*/subscription as s on s.name = l.subscription
left join /*schema*/relay as r on r.id = l.owner
cross join (select position from /*schema*/tick order by position desc limit 1) as head
left join lateral (
    select at from /*schema*/tick where position > l.position order by position limit 1
) as waiting on true
where :name::text is null or l.subscription = :name::text
order by l.subscription, l.lane
