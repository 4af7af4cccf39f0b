-- Begin another attempt. The caller has locked the row and has seen that nobody has the lease.
--   :key text   :lease seconds
-- Locks: the row. Index: external_call_key.
update /*schema*/external_call
set fence = fence + 1, attempts = attempts + 1, called_at = clock_timestamp(),
    leased_until = clock_timestamp() + make_interval(secs => :lease)
where key = :key and state = 'calling'
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
