-- How often a read model has been swapped. Index: the primary key.
--   :read_model text
select epoch
from /*schema*/read_model
where name = :read_model
