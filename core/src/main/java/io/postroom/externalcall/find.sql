-- A call by its key.
--   :key text
-- Index: external_call_key.
select id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
from /*schema*/external_call
where key = :key
