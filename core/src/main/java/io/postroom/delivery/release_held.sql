-- Let go of the keys that discarded dead letters held. For lanes that are locked.
--   :ids bigint[]
delete from /*schema*/delivery as v
using /*schema*/dead_letter as d
where d.id = any (:ids) and v.subscription = d.owner and v.position = d.position and v.state = 'held'
returning v.subscription, v.key_hash
