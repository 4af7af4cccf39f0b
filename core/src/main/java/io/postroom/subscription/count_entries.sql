-- How many messages of the journal lie between two positions of each lane, whatever the subscription's filter says.
--   :count int, of all lanes   :lanes int[]   :after bigint[]   :up_to bigint[]   :first bigint   :last bigint, the least and greatest
select l.lane, count(*)
from /*schema*/journal as j
join unnest(:lanes::integer[], :after::bigint[], :up_to::bigint[]) as l (lane, after, up_to) on l.lane = j.key_hash % :count
where j.position > :first and j.position <= :last and j.position > l.after and j.position <= l.up_to
group by l.lane
