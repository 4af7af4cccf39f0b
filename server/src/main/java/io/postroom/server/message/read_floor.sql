-- The first position that the journal and its archive still have; 1 if it has none.
-- Index: the unique one on position that each partition of the journal has, from its beginning. The archive is not read: its days tell.
select coalesce((select min(first_position) from /*schema*/archive_day where dropped_at is null), (select min(position) from /*schema*/journal), 1) as floor
