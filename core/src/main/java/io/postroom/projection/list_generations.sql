-- Generations with how far they are, how fast they go, and what of theirs waits or was given up.
--   :name text?, of one read model only   :count_max int, deliveries and dead letters are counted no further
-- The rate is that of the slowest lane, from what it settled during the last minute: a row a second. Index: the primary keys,
-- delivery_head, dead_letter_open. What is parked behind another message of its key is not counted.
select g.read_model, g.number, g.version, g.state, g.schema_name, g.subscription, g.began_after, g.replaced, g.asked_at, g.made_at,
       g.live_at, g.error, case when g.hold_until > clock_timestamp() then g.hold_at end as hold_at,
       coalesce(slowest.position, g.began_after) as position, head.position as end_position,
       coalesce(extract(epoch from clock_timestamp() - waiting.at), 0)::double precision as age,
       coalesce(pace.rate, 0)::double precision as rate,
       (
           select count(*)
           from (
               select
               from /*schema*/delivery as v
               where v.subscription = g.subscription and v.state in ('waiting', 'sending', 'held', 'unreadable')
               limit :count_max
           ) as open
       ) as deliveries,
       (
           select count(*)
           from (
               select
               from /*schema*/dead_letter as d
               where d.source = 'subscription' and d.owner = g.subscription and d.resolution is null
               limit :count_max
           ) as letter
       ) as dead_letters
from /*schema*/generation as g
cross join (select position from /*schema*/tick order by position desc limit 1) as head
left join lateral (
    select l.lane, l.position from /*schema*/lane as l where l.subscription = g.subscription order by l.position limit 1
) as slowest on true
left join lateral (
    select at from /*schema*/tick where position > coalesce(slowest.position, g.began_after) order by position limit 1
) as waiting on true
left join lateral (
    select (max(s.position) - min(s.position)) / nullif(extract(epoch from max(s.at) - min(s.at)), 0) as rate
    from (
        select position, at
        from /*schema*/settlement
        where subscription = g.subscription and lane = slowest.lane
        order by position desc
        limit 60
    ) as s
    where s.at > clock_timestamp() - interval '1 minute'
) as pace on true
where :name::text is null or g.read_model = :name::text
order by g.read_model, g.number
