-- Twelve letters and digits for this schema: of the cluster that it was made in, and of when. A dump brings both with it.
select encode(substr(sha256(convert_to(system_identifier || ' ' || extract(epoch from since), 'UTF8')), 1, 6), 'hex') as letters
from /*schema*/cluster
order by since
limit 1
