-- Names whose numbers other names have, with those.
--   :keys bigint[]   :names text[]
-- Locks: none. Index: lock_name_pkey.
select used.key, used.name, other.name as other
from unnest(:keys::bigint[], :names::text[]) as used (key, name)
join /*schema*/lock_name as other on other.key = used.key
where other.name <> used.name
order by used.key
