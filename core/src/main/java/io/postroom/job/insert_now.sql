-- Enqueue one job that may run at once, in the caller's transaction; answers with its id. As insert.sql, which costs more.
--   :kind text   :queue text   :priority int   :tenant_id text?   :payload text, JSON   :headers text?, JSON   :retry text?
--   :attempts_max bigint?   :deadline double precision?, seconds
insert into /*schema*/job (kind, queue, priority, tenant_id, payload, headers, retry, attempts_max, deadline)
values (:kind, :queue, :priority, :tenant_id, :payload::json, :headers::json, :retry, :attempts_max,
        make_interval(secs => :deadline::double precision))
returning id
