-- The materialized views that are due, the longest overdue first.
--   :limit int
select name
from /*schema*/materialized_view
where due_at <= clock_timestamp()
order by due_at
limit :limit
