-- A process leaves these partitions of a consumer in peace: nothing of them is open.
--   :consumer text   :partitions text[]
-- Index: the primary key.
update /*schema*/source_offset
set held = false, updated_at = clock_timestamp()
where consumer = :consumer and partition = any (:partitions)
