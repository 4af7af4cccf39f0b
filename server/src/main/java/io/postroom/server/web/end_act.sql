-- Keep the answer to an act of this transaction.
--   :actor text   :key text   :answer text
-- Locks: the row, which this transaction has made. Index: the primary key.
update /*schema*/act
set answer = :answer
where actor = :actor and key = :key
