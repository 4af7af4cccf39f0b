-- Who serves the subscription of a consumer's name; no row if there is none.
--   :consumer text
select served_by
from /*schema*/subscription
where name = :consumer
