-- Let a consumer begin at the offsets of a cut. For one whose offsets were dropped.
--   :consumer text   :offsets text, JSON, by topic/partition
insert into /*schema*/source_offset (consumer, partition, began_offset, next_offset)
select :consumer, o.key, o.value::bigint, o.value::bigint
from jsonb_each_text(:offsets::jsonb) as o
