-- Every subscription with how far it is and how far it is behind, slowest lane first to count.
--   :name text?, one subscription only
select s.name, s.lanes, s.ordering, s.aggregate_types, s.event_types, s.tenants, s.created_at,
       coalesce(l.position, 0) as position, greatest(head.position - coalesce(l.position, 0), 0) as lag_messages,
       coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)::double precision as lag_seconds,
       coalesce(l.leased, 0) as leased
from /*schema*/subscription as s
left join (
    select subscription, min(position) as position, count(*) filter (where leased_until > clock_timestamp()) as leased
    from /*schema*/lane
    group by subscription
) as l on l.subscription = s.name
cross join (select position from /*schema*/tick order by position desc limit 1) as head
left join lateral (
    select at from /*schema*/tick where position > coalesce(l.position, 0) order by position limit 1
) as waiting on true
where :name::text is null or s.name = :name::text
order by s.name
