-- Remember a call before it is made, with its first attempt. No row if the key is known, or if the revision before is not declined.
--   :key text   :key_before text, of the revision before   :name text   :tenant_id text   :business_id text   :revision int
--   :request_hash text   :lease seconds   :window seconds
-- Locks: waits for whoever inserts the same operation just now; whose session PostgreSQL ends if it freezes
-- before the commit. Index: external_call_key, external_call_open.
insert into /*schema*/external_call (key, name, tenant_id, business_id, revision, request_hash, leased_until, window_until)
select :key, :name, :tenant_id, :business_id, :revision, :request_hash,
       clock_timestamp() + make_interval(secs => :lease), clock_timestamp() + make_interval(secs => :window)
where :revision = 1
   or exists (select 1 from /*schema*/external_call as before where before.key = :key_before and before.state = 'declined')
on conflict do nothing
returning id, name, tenant_id, business_id, revision, request_hash, state, fence, attempts, created_at, called_at, leased_until,
          window_until, ended_at, reference, reason,
          set_config('idle_in_transaction_session_timeout', '10000', true)
