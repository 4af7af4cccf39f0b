-- Dead letters of jobs that cannot be redriven, and why.
--   :ids bigint[]
-- Limits inside keep the planner to one look-up for each. Index: the primary key, job_unique. Of two dead letters with one unique key, the
-- first comes back.
select d.id, 'its job is on its way again already' as reason
from /*schema*/dead_letter as d
cross join lateral (select from /*schema*/job where job.id = d.position limit 1) as j
where d.id = any (:ids)
union all
select d.id, 'job ' || j.id || ' has its unique key, ' || j.unique_key
from /*schema*/dead_letter as d
cross join lateral (
    select job.id, job.unique_key
    from /*schema*/job
    where job.kind = d.event_type and job.unique_key = d.job ->> 'uniqueKey' and coalesce(job.tenant_id, '') = coalesce(d.tenant_id, '')
      and job.unique_while is not null
    limit 1
) as j
where d.id = any (:ids) and j.id <> d.position and d.job ->> 'uniqueWhile' is not null
union all
select later.id, 'dead letter ' || min(d.id) || ' has the same unique key, and comes first'
from /*schema*/dead_letter as d
join /*schema*/dead_letter as later
    on later.id = any (:ids) and later.id > d.id and later.event_type = d.event_type and later.job ->> 'uniqueKey' = d.job ->> 'uniqueKey'
   and coalesce(later.tenant_id, '') = coalesce(d.tenant_id, '')
where d.id = any (:ids) and d.job ->> 'uniqueWhile' is not null and later.job ->> 'uniqueWhile' is not null
group by later.id
