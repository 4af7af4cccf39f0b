-- Note which names stand behind numbers. The first name stays; one that is used is noted anew once a day, so that it is not purged.
--   :keys bigint[]   :names text[]
-- Locks: the rows, in the order of their numbers. Index: lock_name_pkey.
insert into /*schema*/lock_name (key, name)
select key, name
from unnest(:keys::bigint[], :names::text[]) as used (key, name)
order by key
on conflict (key) do update
set noted_at = clock_timestamp()
where lock_name.noted_at < clock_timestamp() - interval '1 day'
