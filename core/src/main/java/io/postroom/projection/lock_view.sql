-- The right to refresh a view, for the rest of the transaction; nobody waits for it.
--   :name text
select pg_try_advisory_xact_lock(hashtextextended('/*schema*/view ' || :name, 0))
