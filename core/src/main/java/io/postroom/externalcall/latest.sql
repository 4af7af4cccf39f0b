-- The last revision of an operation.
--   :name text   :tenant_id text   :business_id text
-- Index: external_call_operation.
select id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
from /*schema*/external_call
where tenant_id = :tenant_id and name = :name and business_id = :business_id
order by revision desc
limit 1
