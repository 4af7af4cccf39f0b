-- What was asked for with a key, and what was answered.
--   :actor text   :key text
-- Locks: none. Index: the primary key.
select asked, answer
from /*schema*/act
where actor = :actor and key = :key
