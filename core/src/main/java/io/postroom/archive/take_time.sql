-- For the rest of the transaction PostgreSQL ends nothing because it takes long: looking through a day may, and holds up nobody. Locks are
-- waited for no longer than before. But a process that freezes before the commit would keep the locks, and relays from stamping: PostgreSQL
-- ends its session instead.
select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '10000', true)
