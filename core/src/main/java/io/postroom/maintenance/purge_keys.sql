-- Forget answers of idempotency keys that have expired; says how many went.
--   :limit int, 1..100000
-- Locks: the rows, skipping locked ones. Index: idempotency_key_expires.
select /*schema*/purge_keys(:limit)
