-- Be the only one to let jobs of a limit through, until the end of the transaction; or not.
--   :name text   :patience text, milliseconds
-- Locks: an advisory one of the transaction; does not wait. Whoever counts does so in a statement after this one, and sees what the one
-- before has let through. A process that freezes before the commit must not keep the limit: PostgreSQL ends its session soon.
select pg_try_advisory_xact_lock(hashtextextended('/*schema*/job limit ' || :name, 0)) as locked
where (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
