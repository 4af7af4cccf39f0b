-- The delivery that a dead letter of a subscription holds its key with. Index: the primary keys.
--   :name text   :dead_letter bigint
select d.position, d.aggregate_type, d.aggregate_id, v.lane, v.key_hash, coalesce(v.state = 'held', false) as held
from /*schema*/dead_letter as d
left join /*schema*/delivery as v on v.subscription = d.owner and v.position = d.position
where d.id = :dead_letter and d.owner = :name and d.source = 'subscription'
