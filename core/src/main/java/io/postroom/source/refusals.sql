-- Dead letters of sources that cannot be redriven, and why. For subscriptions that are kept as they are.
--   :ids bigint[]   :unreadable text, the error class of what is no message
select d.id,
       case when d.error_class = :unreadable
            then 'what was received is no message; read it with postroom deadletter show and discard it'
            else 'subscription ' || d.owner || ' is served by ' || s.served_by || ', and no source applies it until it is moved back'
       end as reason
from /*schema*/dead_letter as d
left join /*schema*/subscription as s on s.name = d.owner
where d.id = any (:ids) and (d.error_class = :unreadable or s.served_by <> 'kafka')
