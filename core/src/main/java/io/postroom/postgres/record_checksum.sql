-- Record what was run, beside the row that the migration itself has written.
--   :version int   :checksum text
update /*schema*/migration
set checksum = :checksum
where version = :version
