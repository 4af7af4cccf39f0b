-- Let PostgreSQL end this transaction if its process vanishes in the middle: what it has locked is free again after so long.
--   :idle_millis text
select set_config('idle_in_transaction_session_timeout', :idle_millis, true)
