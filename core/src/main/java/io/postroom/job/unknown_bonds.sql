-- A limit or a batch that there is not, of those that jobs name.
--   :limits text[]   :batches bigint[]
-- Index: the primary keys.
select 'limit-unknown' as code, 'there is no limit ' || l.name || '; declare it first' as problem
from unnest(:limits::text[]) as l (name)
where l.name is not null and not exists (select from /*schema*/job_limit as known where known.name = l.name)
union all
select 'batch-unknown', 'there is no batch ' || b.id || '; begin one first'
from unnest(:batches::bigint[]) as b (id)
where b.id is not null and not exists (select from /*schema*/job_batch as known where known.id = b.id)
limit 1
