-- Be the only one to release jobs that wait for others, until the end of the transaction; or not. Two at once would each find that one
-- need is left: the other's.
--   :patience text, milliseconds
-- Locks: an advisory one of the transaction; does not wait. A process that freezes before the commit must not keep it: PostgreSQL ends its
-- session soon.
select pg_try_advisory_xact_lock(hashtextextended('/*schema*/job needs', 0)) as locked
where (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
