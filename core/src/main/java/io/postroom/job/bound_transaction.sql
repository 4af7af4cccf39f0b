-- Say when this transaction was begun, and let PostgreSQL end it if its handler hangs: neither a statement nor a pause outlasts the
-- deadline.
--   :millis text
select now(), set_config('statement_timeout', :millis, true), set_config('idle_in_transaction_session_timeout', :millis, true)
