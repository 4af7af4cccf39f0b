-- Note how often the message that comes next in a partition has failed.
--   :consumer text   :partition text   :expected bigint, where we left it   :attempts int
-- Locks: the row. Index: the primary key.
update /*schema*/source_offset
set attempts = :attempts, updated_at = clock_timestamp()
where consumer = :consumer and partition = :partition and next_offset = :expected
