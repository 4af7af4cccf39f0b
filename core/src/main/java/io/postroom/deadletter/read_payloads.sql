-- The payloads of dead letters, in the order of their ids, until so many bytes are read; the first one whatever its size.
--   :ids bigint[]   :bytes_max bigint
select id, payload
from (
    select id, payload, sum(octet_length(payload::text)) over (order by id) - octet_length(payload::text) as before
    from /*schema*/dead_letter
    where id = any (:ids)
) as payloads
where before = 0 or before < :bytes_max
order by id
