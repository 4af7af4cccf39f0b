-- End a call, if its attempt is still the last one. One that was parked meanwhile may end too: now somebody knows. No row: it is not.
--   :key text   :fence bigint   :state text, done or declined   :reference text?   :reason text?
-- Locks: the row. Index: external_call_key.
update /*schema*/external_call
set state = :state, ended_at = clock_timestamp(), leased_until = null, reference = :reference, reason = :reason
where key = :key and fence = :fence and state in ('calling', 'needs_reconciliation')
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
