-- Delete an answer that has expired. No row: another session is about to change it, most likely a purge; it is not waited for.
--   :tenant text   :scope text   :key text
-- Whoever runs it holds the key's lock. Index: idempotency_key_pkey.
with expired as materialized (
    select tenant_id, scope, key
    from /*schema*/idempotency_key
    where tenant_id = :tenant and scope = :scope and key = :key and state <> 'running' and expires_at <= clock_timestamp()
    for update skip locked
)
delete from /*schema*/idempotency_key as k
using expired
where k.tenant_id = expired.tenant_id and k.scope = expired.scope and k.key = expired.key
