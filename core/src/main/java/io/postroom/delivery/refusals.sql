-- Dead letters that cannot be redriven, and why. For lanes that are locked.
--   :ids bigint[]   :kept double precision, seconds for which an inbox remembers at least
-- What a feed sends so late that a subscription which Kafka serves may have applied it itself, before it was moved, and forgotten it, would
-- take effect twice. A replay may have brought the message back on its own: a delivery that is on its way is left alone.
select d.id,
       case when s.name is null then 'subscription ' || d.owner || ' is gone'
            when s.served_by <> 'postgres'
            then 'subscription ' || d.owner || ' has just been moved to ' || s.served_by || '; redrive what is left'
            when v.position is not null then 'its message is on its way again already (' || v.state || ')'
            when k.name is not null
            then 'subscription ' || k.name || ' may have applied it before it was moved to Kafka, and its inbox may have forgotten that: it'
                 ' would take effect twice; discard it'
            else 'a replay is about to send its message, or has just done so; when it is over, redrive what is left'
       end as reason
from /*schema*/dead_letter as d
left join /*schema*/subscription as s on s.name = d.owner
left join /*schema*/delivery as v on v.subscription = d.owner and v.position = d.position
left join /*schema*/lane as l on l.subscription = s.name and l.lane = d.key_hash % s.lanes
left join lateral (
    select o.name
    from /*schema*/subscription as o
    join /*schema*/subscription_move as m on m.subscription = o.name and m.target = 'kafka' and m.outcome = 'done' and m.feed = d.owner
    where o.served_by = 'kafka'
      and d.position <= (select max(n.position) from /*schema*/lane as n where n.subscription = o.name)
      and d.position <= (
          select t.position
          from /*schema*/tick as t
          where t.at < interval '1 hour'
                       + least(clock_timestamp() - make_interval(secs => :kept),
                               (select min(greatest(clock_timestamp() - c.retention, c.declared_at - make_interval(secs => :kept)))
                                from /*schema*/inbox_consumer as c))
          order by t.position desc
          limit 1
      )
    limit 1
) as k on true
where d.id = any (:ids)
  and (s.name is null or k.name is not null or s.served_by <> 'postgres' or v.state <> 'held'
       or v.position is null and d.position > l.position and d.position <= l.replay_to)
