-- Enqueue a batch of jobs that have a limit or belong to a batch, and are not bound otherwise, in the caller's transaction; answers with
-- their ids, which grow in the order of the arrays.
--   one array for each column of insert.sql, all of the same length; :run_at as microseconds since 1970, :run_after and :deadline as
--   microseconds, null where there is none; :kinds   :queues   :priorities   :tenant_ids   :payloads   :headers   :retries   :attempts_max
--   :limit_names   :limit_keys   :batches
-- Seconds and microseconds are added apart: bigint times interval goes through double, which has no room for both.
insert into /*schema*/job (kind, queue, priority, tenant_id, payload, headers, run_at, waits, retry, attempts_max, deadline,
                            limit_name, limit_key, batch)
select j.kind, j.queue, j.priority, j.tenant_id, j.payload::json, j.headers::json, coalesce(due.at, clock_timestamp()),
       case when due.at > clock_timestamp() then 'time' when j.limit_name is not null then 'turn' end, j.retry, j.attempts_max,
       j.deadline * interval '1 microsecond', j.limit_name, j.limit_key, j.batch
from unnest(:kinds::text[], :queues::text[], :priorities::integer[], :tenant_ids::text[], :payloads::text[], :headers::text[],
            :run_at::bigint[], :run_after::bigint[], :retries::text[], :attempts_max::integer[], :deadline::bigint[], :limit_names::text[],
            :limit_keys::text[], :batches::bigint[])
     with ordinality as j (kind, queue, priority, tenant_id, payload, headers, run_at, run_after, retry, attempts_max, deadline, limit_name,
                           limit_key, batch, n)
cross join lateral (
    select coalesce(
               timestamptz 'epoch' + j.run_at / 1000000 * interval '1 second' + j.run_at % 1000000 * interval '1 microsecond',
               clock_timestamp() + j.run_after * interval '1 microsecond') as at
) as due
order by j.n
returning id
