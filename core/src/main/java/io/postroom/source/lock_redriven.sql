-- Lock a redriven dead letter whose attempt has failed; no row if somebody has finished it.
--   :dead_letter bigint
select attempts
from /*schema*/redriven_letter
where dead_letter = :dead_letter
for update
