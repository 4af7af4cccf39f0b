-- Let dead letters that were just resolved wait for their consumers.
--   :ids bigint[]
insert into /*schema*/redriven_letter (dead_letter, consumer, key_hash, turn)
select id, owner, key_hash, turn
from /*schema*/dead_letter
where id = any (:ids)
order by id
