-- Hold a lock until the transaction ends, if nobody else does; with the number that stands for its name.
--   :name text
-- Locks: an advisory one of the transaction; does not wait.
select /*schema*/lock_key(:name) as key, /*schema*/try_hold(:name) as held
