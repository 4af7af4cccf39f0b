-- A consumer has come so far in a partition, with the effects of this transaction. No row: somebody else has changed it since we looked.
--   :consumer text   :partition text   :expected bigint, where we left it   :next bigint   :epoch bigint?
-- Locks: the row, last of all in its transaction, so that whoever waits for it waits for nothing else. Index: the primary key.
update /*schema*/source_offset
set next_offset = greatest(next_offset, :next), leader_epoch = :epoch, attempts = 0, updated_at = clock_timestamp()
where consumer = :consumer and partition = :partition and next_offset = :expected
