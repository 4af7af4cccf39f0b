-- The payloads of dead letters, in the given order, until so many bytes are read; the first one whatever its size.
--   :ids bigint[]   :bytes_max bigint
select id, payload
from (
    select d.id, d.payload, given.number,
           sum(octet_length(d.payload::text)) over (order by given.number) - octet_length(d.payload::text) as before
    from unnest(:ids::bigint[]) with ordinality as given (id, number)
    join /*schema*/dead_letter as d on d.id = given.id
) as payloads
where before = 0 or before < :bytes_max
order by number
