-- The first and the last day of the archive that some positions lie in, without those that were dropped; nulls if there is none.
--   :after bigint, exclusive   :up_to bigint
-- Index: archive_day_position. Whoever asks is about to read those days: for the rest of the transaction plans are made for given days,
-- because one for whichever days come would lock all there are.
select min(day) as first_day, max(day) as last_day, set_config('plan_cache_mode', 'force_custom_plan', true)
from /*schema*/archive_day
where last_position > :after and first_position <= :up_to and dropped_at is null
