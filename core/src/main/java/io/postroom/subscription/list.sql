-- Every subscription with how far its slowest lane is, how far behind, and what operators have asked of it.
--   :name text?, one subscription only   :count_max int, deliveries, dead letters and messages without a position are counted no further
-- A copy ends at a position; it is behind that, not the journal's end. How far behind a broker's consumer is, the broker knows.
-- What did not go through at once is neither behind a lane nor given up: it is counted by its state, but for what is not due for the
-- first time. Few are on their way or unreadable, many may wait, and no index has what is parked: three scans, so that none hides another.
-- Index: delivery_held, delivery_sending, delivery_head and the primary key of delivery, in their order, or the planner would read all
-- deliveries of others to count none; dead_letter_open.
select s.name, s.lanes, s.lanes_wanted, s.ordering, s.aggregate_types, s.event_types, s.tenants, s.on_burial, s.retry, s.created_at,
       s.paused_at, s.paused_by, s.pause_reason, s.copy_of, s.replay_rate, s.former_positions, s.served_by,
       coalesce(l.position, 0) as position,
       case when s.served_by <> 'postgres' then 0
            when s.copy_of is null then greatest(head.position - coalesce(l.position, 0), 0) + unstamped.messages
            else greatest(coalesce(l.last, 0) - coalesce(l.position, 0), 0)
       end as lag_messages,
       case when s.served_by <> 'postgres' or s.copy_of is not null and coalesce(l.position >= l.last, true) then 0
            else coalesce(extract(epoch from clock_timestamp()
                                             - least(waiting.at, case when s.copy_of is null then unstamped.since end)), 0)
       end::double precision as lag_seconds,
       (
           select min(c.opened_at)
           from /*schema*/circuit as c
           join /*schema*/relay as r on r.id = c.relay and r.leased_until > clock_timestamp()
           where c.subscription = s.name
       ) as unavailable_since,
       (
           select count(*)
           from (
               select
               from /*schema*/delivery as v
               where v.subscription = s.name and v.state = 'held'
               order by v.position
               limit :count_max
           ) as held
       ) as held_keys,
       (
           select count(*)
           from (
               select
               from /*schema*/dead_letter as d
               where d.source in ('subscription', 'kafka') and d.owner = s.name and d.resolution is null
               limit :count_max
           ) as letter
       ) as dead_letters,
       heads.waiting, begun.sending, begun.unreadable, early.parked,
       coalesce(extract(epoch from clock_timestamp() - least(begun.since, heads.since, early.since)), 0)::double precision
           as put_aside_seconds,
       coalesce(l.leased, 0) as leased, coalesce(l.replaying, 0) as replaying,
       s.copy_of is not null and coalesce(l.replaying, 0) = 0
       and (
           select d.position from /*schema*/delivery as d where d.subscription = s.name order by d.position limit 1
       ) is null as done
from /*schema*/subscription as s
left join (
    select subscription, min(position) as position, count(*) filter (where leased_until > clock_timestamp()) as leased,
           count(replay_to) as replaying, max(coalesce(replay_to, position)) as last
    from /*schema*/lane
    group by subscription
) as l on l.subscription = s.name
cross join (select position from /*schema*/tick order by position desc limit 1) as head
cross join /*schema*/unstamped(:count_max) as unstamped
left join lateral (
    select at from /*schema*/tick where position > coalesce(l.position, 0) order by position limit 1
) as waiting on true
cross join lateral (
    select count(*) filter (where d.state = 'sending') as sending, count(*) filter (where d.state = 'unreadable') as unreadable,
           min(d.created_at) as since
    from (
        select v.state, v.created_at
        from /*schema*/delivery as v
        where v.subscription = s.name and v.state in ('sending', 'unreadable')
        order by v.lane
        limit :count_max
    ) as d
) as begun
cross join lateral (
    select count(*) as waiting, min(d.created_at) as since
    from (
        select v.state, v.created_at
        from /*schema*/delivery as v
        where v.subscription = s.name and v.state in ('waiting', 'sending', 'held', 'unreadable')
        order by v.key_hash, v.position
        limit :count_max
    ) as d
    where d.state = 'waiting'
) as heads
cross join lateral (
    select count(*) filter (where d.state = 'parked') as parked,
           min(d.created_at) filter (where d.state in ('waiting', 'sending', 'unreadable')) as since
    from (
        select v.state, v.created_at
        from /*schema*/delivery as v
        where v.subscription = s.name
        order by v.position
        limit :count_max
    ) as d
) as early
where :name::text is null or s.name = :name::text
order by s.name
