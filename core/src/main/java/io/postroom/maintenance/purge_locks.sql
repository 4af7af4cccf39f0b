-- Forget old leases that nobody has, and names of locks that were not used for long; says how many went of whichever were more.
--   :limit int, 1..100000
-- Locks: the rows, skipping locked ones. Indexes: lease_taken, lock_name_noted.
select /*schema*/purge_locks(:limit)
