-- For the rest of the transaction PostgreSQL ends nothing because it takes long: looking through a day may, and holds up nobody. Locks are
-- waited for no longer than before.
select set_config('statement_timeout', '0', true)
