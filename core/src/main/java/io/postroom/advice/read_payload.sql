-- How large the last messages are on average, with their headers.
--   :limit int
-- Index: the unique index of each journal partition, backwards.
select coalesce(avg(bytes), 0)::bigint
from (select bytes from /*schema*/journal order by position desc limit :limit) as newest
