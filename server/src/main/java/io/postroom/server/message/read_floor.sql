-- The first position that the journal and its archive still have; 1 if it has none.
-- Index: the unique one on position that each partition has, from its beginning.
select coalesce(least((select min(position) from /*schema*/journal), (select min(position) from /*schema*/journal_archive)), 1) as floor
