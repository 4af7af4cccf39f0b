-- Read dead letters whole, open or not, in the order of their ids.
--   :ids bigint[]
select id, source, owner, position, message_id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
       payload, headers, occurred_at, available_at, cause, attempts, error_class, error, fingerprint, history, buried_at, buried_by,
       origin, resolution, resolved_at, resolved_by, redrive, patched
from /*schema*/dead_letter
where id = any (:ids)
order by id
