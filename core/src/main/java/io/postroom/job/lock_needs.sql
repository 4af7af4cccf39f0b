-- Be the only one to release jobs that wait for others, until the end of the transaction; or not. Two at once would each find that one
-- need is left: the other's.
-- Locks: an advisory one of the transaction; does not wait.
select pg_try_advisory_xact_lock(hashtextextended('/*schema*/job needs', 0))
