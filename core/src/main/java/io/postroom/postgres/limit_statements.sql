-- Let PostgreSQL end what takes longer than this, for the rest of the transaction, which reads only.
--   :millis text
select set_config('statement_timeout', :millis, true), set_config('transaction_read_only', 'on', true)
