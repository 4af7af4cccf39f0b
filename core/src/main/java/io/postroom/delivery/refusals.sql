-- Dead letters that cannot be redriven, and why. For lanes that are locked.
--   :ids bigint[]
-- A replay may have brought the message back on its own: a delivery that is on its way is left alone.
select d.id,
       case when s.name is null then 'subscription ' || d.owner || ' is gone'
            when s.served_by <> 'postgres'
            then 'subscription ' || d.owner || ' has just been moved to ' || s.served_by || '; redrive what is left'
            when v.position is not null then 'its message is on its way again already (' || v.state || ')'
            else 'a replay is about to send its message, or has just done so; when it is over, redrive what is left'
       end as reason
from /*schema*/dead_letter as d
left join /*schema*/subscription as s on s.name = d.owner
left join /*schema*/delivery as v on v.subscription = d.owner and v.position = d.position
left join /*schema*/lane as l on l.subscription = s.name and l.lane = d.key_hash % s.lanes
where d.id = any (:ids)
  and (s.name is null or s.served_by <> 'postgres' or v.state <> 'held'
       or v.position is null and d.position > l.position and d.position <= l.replay_to)
