-- Forget how far a consumer was in all partitions.
--   :consumer text
delete from /*schema*/source_offset
where consumer = :consumer
