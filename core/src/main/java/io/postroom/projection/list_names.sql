-- The names of read models, for whoever misspelled one.
--   :limit int
select name
from /*schema*/read_model
order by name
limit :limit
