-- Ask what is known about a key, or get the right to do its command; see the function claim_key.
--   :tenant text   :scope text   :key text   :hash bytea
-- Locks: an advisory one of the transaction, if nobody has answered yet. Index: idempotency_key_pkey.
select state, same, leased, status_code, headers, response, fence, recovery, began
from /*schema*/claim_key(:tenant, :scope, :key, :hash)
