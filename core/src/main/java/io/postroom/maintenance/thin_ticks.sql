-- Leave one tick per second of those made between two times; answers with how many went.
--   :since timestamptz   :until timestamptz
select thinned
from /*schema*/thin_ticks(:since, :until)
