-- Give every newly visible message the next position; see the function's own text in the migration.
--   :batch_max int   :seen text, a snapshot an earlier call found nothing new in
select state, stamped, last_position, last_day, looked_at
from /*schema*/stamp(:batch_max, :seen)
