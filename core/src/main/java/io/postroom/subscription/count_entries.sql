-- How many messages of the journal and its archive lie between two positions of each lane, whatever the subscription's filter says.
--   :count int, of all lanes   :lanes int[]   :after bigint[]   :up_to bigint[]   :first bigint   :last bigint, the least and greatest
--   :first_day date?   :last_day date?, the archived days of these positions: without them every archived day would be locked
-- A day that is archived after these were found is not counted.
select l.lane, count(*)
from (
    select position, key_hash from /*schema*/journal where position > :first and position <= :last
    union all
    select position, key_hash
    from /*schema*/journal_archive
    where position > :first and position <= :last and day between :first_day::date and :last_day::date
) as j
join unnest(:lanes::integer[], :after::bigint[], :up_to::bigint[]) as l (lane, after, up_to) on l.lane = j.key_hash % :count
where j.position > l.after and j.position <= l.up_to
group by l.lane
