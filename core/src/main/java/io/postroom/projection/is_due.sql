-- Whether a view is due. After lock_view, in a statement of its own: another node may have refreshed it a moment ago.
--   :name text
select due_at <= clock_timestamp()
from /*schema*/materialized_view
where name = :name
