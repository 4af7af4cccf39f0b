-- Read messages from the dead letters they were redriven from, as the operator wants them sent.
--   :ids bigint[]
select id, message_id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
       coalesce(patched, payload) as payload, headers, occurred_at, available_at
from /*schema*/dead_letter
where id = any (:ids)
