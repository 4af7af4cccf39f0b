-- Park a call for reconciliation, if its attempt is still the last one. One that is parked stays so. No row: it has ended.
--   :key text   :fence bigint   :reason text
-- Locks: the row. Index: external_call_key.
update /*schema*/external_call
set state = 'needs_reconciliation', leased_until = null, reason = :reason
where key = :key and fence = :fence and state in ('calling', 'needs_reconciliation')
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
