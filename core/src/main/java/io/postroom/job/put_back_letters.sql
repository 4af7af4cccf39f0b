-- Make dead letters that were just resolved into jobs again, each with the id and the queue it had, due now.
--   :ids bigint[]
-- Attempts begin anew; the fence grows on. Unique keys in the order in which a batch is enqueued, whoever has which dead letter: two who need
-- the same ones wait for each other, and not in a ring.
insert into /*schema*/job (id, queue, kind, priority, tenant_id, payload, headers, retry, attempts_max, deadline, fence, origin, created_at,
                            unique_key, unique_while, limit_name, limit_key, batch, waits)
    overriding system value
select d.position, d.owner, d.event_type, (d.job ->> 'priority')::smallint, d.tenant_id, coalesce(d.patched, d.payload), d.headers,
       d.job ->> 'retry', (d.job ->> 'attemptsMax')::integer, (d.job ->> 'deadline')::interval, (d.job ->> 'fence')::bigint + 1, d.id,
       d.occurred_at, d.job ->> 'uniqueKey', d.job ->> 'uniqueWhile', d.job ->> 'limitName', d.job ->> 'limitKey', (d.job ->> 'batch')::bigint,
       case when d.job ? 'limitName' then 'turn' end
from /*schema*/dead_letter as d
where d.id = any (:ids)
order by case when d.job ->> 'uniqueWhile' is not null
              then d.event_type || chr(10) || (d.job ->> 'uniqueKey') || chr(10) || coalesce(d.tenant_id, 'null')
         end collate "C" nulls first, d.id
