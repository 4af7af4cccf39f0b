-- The same, but wait for whoever has it.
--   :name text   :wait_millis int, 1..3600000
-- Locks: an advisory one of the transaction.
select /*schema*/lock_key(:name) as key, /*schema*/hold(:name, :wait_millis) as held
