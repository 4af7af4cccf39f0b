-- End a call as somebody says who has looked at the provider. The caller has locked the row. The fence grows: no attempt ends it later.
--   :key text   :state text, done or declined   :reference text?   :reason text
-- Locks: the row. Index: external_call_key.
update /*schema*/external_call
set state = :state, ended_at = clock_timestamp(), leased_until = null, fence = fence + 1,
    reference = coalesce(:reference, reference), reason = :reason
where key = :key and state in ('calling', 'needs_reconciliation')
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
