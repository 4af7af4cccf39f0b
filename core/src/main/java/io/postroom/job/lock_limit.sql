-- Be the only one to let jobs of a limit through, until the end of the transaction; or not.
--   :name text
-- Locks: an advisory one of the transaction; does not wait. Whoever counts does so in a statement after this one, and sees what the one
-- before has let through.
select pg_try_advisory_xact_lock(hashtextextended('/*schema*/job limit ' || :name, 0))
