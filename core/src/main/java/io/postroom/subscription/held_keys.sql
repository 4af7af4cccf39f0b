-- A page of the keys that dead letters hold, in the order of their positions, and how many messages are parked behind each.
--   :name text   :after bigint, the last position of the page before   :limit int   :parked_max int, counted no further
select v.position, v.dead_letter, d.tenant_id, d.aggregate_type, d.aggregate_id, d.message_id, d.error_class, d.buried_at,
       (
           select count(*)
           from (
               select
               from /*schema*/delivery as p
               where p.subscription = v.subscription and p.key_hash = v.key_hash and p.position > v.position and p.state = 'parked'
               limit :parked_max
           ) as behind
       ) as parked
from /*schema*/delivery as v
join /*schema*/dead_letter as d on d.id = v.dead_letter
where v.subscription = :name and v.state = 'held' and v.position > :after
order by v.position
limit :limit
