-- How often the message that comes next in a partition has failed, whoever tried it. No row: it is not the next one any more.
--   :consumer text   :partition text   :expected bigint, where we left it
-- Index: the primary key.
select attempts
from /*schema*/source_offset
where consumer = :consumer and partition = :partition and next_offset = :expected
