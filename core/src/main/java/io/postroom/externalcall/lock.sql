-- A call, locked for the rest of the transaction; whether an attempt has its lease, and whether another would outlast the window.
--   :key text   :lease seconds
-- Locks: the row. A process that freezes before the commit would keep it: PostgreSQL ends its session instead. Index: external_call_key.
select id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason,
       coalesce(leased_until > clock_timestamp(), false) as leased,
       clock_timestamp() + make_interval(secs => :lease) > window_until as too_late,
       set_config('idle_in_transaction_session_timeout', '10000', true)
from /*schema*/external_call
where key = :key
for update
