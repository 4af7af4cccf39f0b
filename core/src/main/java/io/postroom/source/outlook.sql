-- What a move of a subscription would find: the subscription, its feed, how far back the two may overlap, and how long messages are
-- remembered.
--   :name text   :feed text   :kept double precision, seconds an inbox remembers unless told otherwise
-- What the feed has not carried yet may have taken effect since it got its position, or since it was due: its first entry after the
-- slowest lane, and what has failed and waits. What is for later is delivered by both when it is due. A relay that was started before the
-- subscription's projection was put behind its inbox may know of none: one that lives, or one whose lease ran out not long ago.
select s.served_by, s.receiver, s.consumer, s.on_burial, s.paused_at is not null as paused, s.copy_of is not null as is_copy,
       s.lanes_wanted is not null as lanes_changing,
       exists (select from /*schema*/generation as g where g.subscription = s.name) as of_read_model,
       exists (select from /*schema*/lane as l where l.subscription = s.name and l.replay_to is not null) as replaying,
       (select count(*) from /*schema*/delivery as v where v.subscription = s.name and v.state = 'held') as held,
       coalesce((select min(l.position) from /*schema*/lane as l where l.subscription = s.name), 0) as position,
       (select count(*) from /*schema*/delivery as v where v.subscription = s.name) as deliveries,
       (select count(*) from /*schema*/dead_letter as d
        where d.source in ('subscription', 'kafka') and d.owner = s.name and d.resolution is null) as letters,
       f.name is not null as feed_there, f.receiver as feed_receiver, f.served_by as feed_served_by,
       f.paused_at is not null as feed_paused, f.copy_of is not null as feed_is_copy,
       coalesce((f.aggregate_types is null or s.aggregate_types <@ f.aggregate_types)
                and (f.event_types is null or s.event_types <@ f.event_types)
                and (f.tenants is null or s.tenants <@ f.tenants), false) as covered,
       coalesce(fed.position, 0) as feed_position,
       least(fed.position, (select min(v.position) - 1 from /*schema*/delivery as v
                            where v.subscription = f.name and v.state <> 'scheduled')) < s.inbox_after as feed_before_inbox,
       s.inbox_after, s.consumer_at > m.noted_at as consumer_changed,
       (select min(r.name) from /*schema*/relay as r
        where s.name = any (r.subscriptions) and r.started_at < s.consumer_at and r.leased_until > clock_timestamp()) as other_relay,
       overlap.since <= (select max(r.leased_until) from /*schema*/relay as r
                         where s.name = any (r.subscriptions) and r.started_at < s.consumer_at) as overlaps_other,
       (select count(*) from /*schema*/dead_letter as d
        where d.source = 'subscription' and d.owner = f.name and d.resolution is null) as feed_letters,
       m.id is not null as begun, m.target as moving_to, s.ordering, f.ordering as feed_ordering,
       extract(epoch from clock_timestamp() - overlap.since)::double precision as overlap,
       extract(epoch from clock_timestamp()
                          - least(clock_timestamp() - make_interval(secs => :kept),
                                  (select min(greatest(clock_timestamp() - c.retention,
                                                       c.declared_at - make_interval(secs => :kept)))
                                   from /*schema*/inbox_consumer as c)))::double precision as remembered
from /*schema*/subscription as s
left join /*schema*/subscription as f on f.name = :feed
left join /*schema*/subscription_move as m on m.subscription = s.name and m.ended_at is null
left join lateral (select min(l.position) as position from /*schema*/lane as l where l.subscription = f.name) as fed on true
cross join lateral (
    select coalesce(m.overlap_since, least(
               clock_timestamp(),
               (select t.at from /*schema*/tick as t where t.position > fed.position order by t.position limit 1),
               (select min(greatest(t.at, o.available_at, a.available_at))
                from /*schema*/delivery as v
                cross join lateral (
                    select k.at from /*schema*/tick as k where k.position >= v.position order by k.position limit 1
                ) as t
                left join /*schema*/outbox as o on o.seq = v.seq and o.day = v.outbox_day
                left join /*schema*/outbox_archive as a on a.seq = v.seq and a.day = v.outbox_day
                where v.subscription = f.name and v.state <> 'scheduled'))) as since
) as overlap
where s.name = :name
