-- Every materialized view that is kept, and how its last refresh went.
--   :name text?, one only
select name, extract(epoch from every)::double precision as every, due_at, refreshed_at,
       extract(epoch from took)::double precision as took, failed_at, error, failures, created_at,
       coalesce(extract(epoch from clock_timestamp() - refreshed_at), 0)::double precision as age
from /*schema*/materialized_view
where :name::text is null or name = :name::text
order by name
