-- Make the lanes of a new subscription, all at one position. Existing ones are left alone.
--   :subscription text   :lanes int   :position bigint
insert into /*schema*/lane (subscription, lane, position)
select :subscription, lane, :position
from generate_series(0, :lanes - 1) as lane
on conflict (subscription, lane) do nothing
