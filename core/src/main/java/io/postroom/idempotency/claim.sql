-- Ask what is known about a key, or get the right to do its command; see the function claim_key.
--   :tenant text   :scope text   :key text   :hash bytea   :idle_millis text?, null in a transaction of the caller's
-- Locks: an advisory one of the transaction, if nobody has answered yet. If the process vanishes, PostgreSQL ends the session after
-- :idle_millis, and the lock with it. Index: idempotency_key_pkey.
select state, same, leased, status_code, headers, response, fence, recovery, began,
       case when :idle_millis::text is not null
           then set_config('idle_in_transaction_session_timeout', :idle_millis::text, true) end as idle
from /*schema*/claim_key(:tenant, :scope, :key, :hash)
