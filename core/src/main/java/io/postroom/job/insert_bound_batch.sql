-- Enqueue jobs that are bound to others, one after the other in the order of the arrays, in the caller's transaction; answers for each with
-- its id, or that of the job that has its unique key, or with a problem.
--   one array for each, all of the same length: :kinds   :queues   :priorities   :tenant_ids   :payloads   :headers   :retries   :attempts_max
--   :limit_names   :limit_keys   :batches   :unique_keys   :unique_whiles; :run_at as microseconds since 1970, :run_after, :deadline and
--   :unique_withins as microseconds, null where there is none; :after_jobs and :after_batches as texts of bigint[], :any_ends of booleans
-- Locks: whoever enqueues one of the unique keys is waited for; the caller has sorted them. Index: job_unique.
select b.id, b.skipped, b.code, b.problem
from unnest(:kinds::text[], :queues::text[], :priorities::integer[], :tenant_ids::text[], :payloads::text[], :headers::text[],
            :run_at::bigint[], :run_after::bigint[], :retries::text[], :attempts_max::integer[], :deadline::bigint[], :limit_names::text[],
            :limit_keys::text[], :batches::bigint[], :unique_keys::text[], :unique_whiles::text[], :unique_withins::bigint[],
            :after_jobs::text[], :after_batches::text[], :any_ends::text[])
     with ordinality as j (kind, queue, priority, tenant_id, payload, headers, run_at, run_after, retry, attempts_max, deadline, limit_name,
                           limit_key, batch, unique_key, unique_while, unique_within, after_jobs, after_batches, any_end, n)
cross join lateral /*schema*/enqueue_bound(
    j.kind, j.queue, j.priority, j.tenant_id, j.payload::json, j.headers::json,
    timestamptz 'epoch' + j.run_at / 1000000 * interval '1 second' + j.run_at % 1000000 * interval '1 microsecond',
    j.run_after * interval '1 microsecond', j.retry, j.attempts_max, j.deadline * interval '1 microsecond', j.unique_key, j.unique_while,
    j.unique_within * interval '1 microsecond', j.limit_name, j.limit_key, j.batch, j.after_jobs::bigint[], j.after_batches::bigint[],
    j.any_end::boolean) as b
order by j.n
