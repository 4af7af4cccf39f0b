-- A page of calls, newest first.
--   :state text?   :name text?   :tenant_id text?   :before bigint?, the last id of the page before   :limit int
-- Index: external_call_state, external_call_name, external_call_tenant, or the primary key for everything.
select id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
from /*schema*/external_call
where (:state::text is null or state = :state::text)
  and (:name::text is null or name = :name::text)
  and (:tenant_id::text is null or tenant_id = :tenant_id::text)
  and (:before::bigint is null or id < :before::bigint)
order by id desc
limit :limit
