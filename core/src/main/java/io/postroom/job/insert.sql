-- Enqueue one job in the caller's transaction; answers with its id.
--   :kind text   :queue text   :priority int   :tenant_id text?   :payload text, JSON   :headers text?, JSON
--   :run_at timestamptz?   :run_after double precision?, seconds   :retry text?   :attempts_max bigint?
--   :deadline double precision?, seconds
insert into /*schema*/job (kind, queue, priority, tenant_id, payload, headers, run_at, waits, retry, attempts_max, deadline)
select :kind, :queue, :priority, :tenant_id, :payload::json, :headers::json, coalesce(due.at, clock_timestamp()),
       case when due.at > clock_timestamp() then 'time' end, :retry, :attempts_max, make_interval(secs => :deadline::double precision)
from (select coalesce(:run_at::timestamptz, clock_timestamp() + make_interval(secs => :run_after::double precision)) as at) as due
returning id
