-- Take a key for an act of this transaction; nothing if it was taken before. Waits for a transaction that has just taken it.
--   :actor text   :key text   :asked bytea
-- Locks: the new row. Index: the primary key.
insert into /*schema*/act (actor, key, asked)
values (:actor, :key, :asked)
on conflict (actor, key) do nothing
