-- Store an answer whole, in the transaction of what it answers for.
--   :tenant text   :scope text   :key text   :hash bytea   :state text   :status int   :headers text?, JSON   :response bytea
--   :expiry double precision, seconds   :began timestamptz, when the transaction began in which the key was claimed
-- A key that is there is an error, not a row that was left out: the effect must not stay without its answer. For the same reason
-- state is null, which its column refuses, when this is another transaction than the one that was begun with.
insert into /*schema*/idempotency_key
    (tenant_id, scope, key, request_hash, state, status_code, headers, response, created_at, completed_at, expires_at)
values (:tenant, :scope, :key, :hash, case when now() = :began then :state::text end, :status, :headers::json, :response, :began,
        clock_timestamp(), clock_timestamp() + make_interval(secs => :expiry))
