-- Which migrations have been applied.
select version, name, checksum, applied_at, applied_by
from /*schema*/migration
order by version
