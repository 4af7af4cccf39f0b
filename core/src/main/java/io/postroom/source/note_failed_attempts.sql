-- Note how often the message that comes next in a partition has failed.
--   :consumer text   :partition text   :expected bigint, where we left it   :attempts int
-- Locks: the row. Index: the primary key. Two who try the same message do not count each other's attempts twice.
update /*schema*/source_offset
set attempts = greatest(attempts, :attempts), updated_at = clock_timestamp()
where consumer = :consumer and partition = :partition and next_offset = :expected
