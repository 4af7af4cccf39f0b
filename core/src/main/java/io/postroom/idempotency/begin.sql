-- Begin the steps of a key that nobody has.
--   :tenant text   :scope text   :key text   :hash bytea   :recovery text, JSON
--   :lease double precision, seconds   :expiry double precision, seconds
-- The first fence is the time in microseconds: greater than any that this key had before it was forgotten or had expired, so that
-- whoever had it then changes nothing now.
insert into /*schema*/idempotency_key (tenant_id, scope, key, request_hash, state, expires_at, leased_until, fence, recovery)
values (:tenant, :scope, :key, :hash, 'running', clock_timestamp() + make_interval(secs => :expiry),
        clock_timestamp() + make_interval(secs => :lease), (extract(epoch from clock_timestamp()) * 1000000)::bigint, :recovery::json)
returning fence
