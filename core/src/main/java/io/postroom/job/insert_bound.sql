-- Enqueue one job that is bound to others, in the caller's transaction; answers with its id, or that of the job that has its unique key,
-- or with a problem.
--   :kind text   :queue text   :priority int   :tenant_id text?   :payload text, JSON   :headers text?, JSON
--   :run_at timestamptz?   :run_after double precision?, seconds   :retry text?   :attempts_max bigint?
--   :deadline double precision?, seconds   :unique_key text?   :unique_while text?   :unique_within double precision?, seconds   :limit_name text?
--   :limit_key text?   :batch bigint?   :after_jobs bigint[]   :after_batches bigint[]   :any_end text, a boolean
-- Locks: whoever enqueues the same unique key is waited for. Index: job_unique.
select id, skipped, code, problem
from /*schema*/enqueue_bound(
    :kind, :queue, :priority, :tenant_id, :payload::json, :headers::json, :run_at::timestamptz,
    make_interval(secs => :run_after::double precision), :retry, :attempts_max::integer, make_interval(secs => :deadline::double precision),
    :unique_key, :unique_while, make_interval(secs => :unique_within::double precision), :limit_name, :limit_key, :batch::bigint,
    :after_jobs::bigint[], :after_batches::bigint[], :any_end::boolean)
