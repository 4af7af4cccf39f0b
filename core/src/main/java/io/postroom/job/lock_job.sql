-- Lock one job that has not ended, and say whether it runs. Index: the primary key.
--   :id bigint
select state = 'running' as running
from /*schema*/job
where id = :id
for update
