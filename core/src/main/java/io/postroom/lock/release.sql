-- Give a lease back; changes nothing if somebody else has it.
--   :name text   :holder uuid   :fence bigint
-- Locks: the row. Index: lease_pkey.
update /*schema*/lease
set holder = null, leased_until = null
where name = :name and holder = :holder and fence = :fence
