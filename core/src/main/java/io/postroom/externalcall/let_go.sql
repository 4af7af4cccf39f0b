-- End the lease of an attempt that got no answer, so that the next one may begin. No row: another attempt began, or the call has ended.
--   :key text   :fence bigint   :reason text
-- Locks: the row. Index: external_call_key.
update /*schema*/external_call
set leased_until = clock_timestamp(), reason = :reason
where key = :key and fence = :fence and state = 'calling'
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason
