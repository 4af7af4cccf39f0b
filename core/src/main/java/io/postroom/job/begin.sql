-- Note that an exact attempt begins. No row: the job was taken away.
--   :id bigint   :fence bigint
-- Index: the primary key.
update /*schema*/job
set begun_at = clock_timestamp()
where id = :id and fence = :fence
