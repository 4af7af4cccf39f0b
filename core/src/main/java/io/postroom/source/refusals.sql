-- Dead letters of sources that cannot be redriven, and why. For subscriptions that are kept as they are.
--   :ids bigint[]
select d.id,
       'subscription ' || d.owner || ' is served by ' || s.served_by || ', and no source applies it until it is moved back' as reason
from /*schema*/dead_letter as d
join /*schema*/subscription as s on s.name = d.owner
where d.id = any (:ids) and s.served_by <> 'kafka'
