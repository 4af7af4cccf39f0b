-- Twelve letters and digits for this schema: of the cluster that it was made in, of when, and of the database. A dump brings the first two
-- with it; the last one tells databases apart that were made from one template.
select encode(substr(sha256(convert_to(
           system_identifier || ' ' || extract(epoch from since) || ' ' || current_database(), 'UTF8')), 1, 6), 'hex') as letters
from /*schema*/cluster
order by since
limit 1
