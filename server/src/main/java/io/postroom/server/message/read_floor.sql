-- The first position that the journal still has; 1 if it has none.
-- Index: the unique one on position that each partition has, from its beginning.
select coalesce(min(position), 1) as floor
from /*schema*/journal
