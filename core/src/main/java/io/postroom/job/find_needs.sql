-- What jobs wait for, one row for each job or batch that is needed, and how it ended: done, failed, cancelled, or null while it has not.
--   :of_batch text, a boolean   :after bigint, the last need that was looked at before   :limit int
-- The last end of a job counts. What failed is asked of the dead letters, which stay when ends are forgotten: an open one may still be
-- redriven, and one that was discarded is as good as cancelled; a batch keeps in mind that one of its jobs was cancelled, and a need how its
-- job ended. A batch has ended when none of its jobs is left; it is done if all are.
-- No exists: the planner may read the whole table once for it, where it believes that this is short.
-- Index: the primary keys, job_batch_open, job_done_id, job_done_batch, dead_letter_job, dead_letter_batch.
with recursive wanted (need) as (
    (
        select n.need from /*schema*/job_need as n where n.of_batch = :of_batch::boolean and n.need > :after order by n.need limit 1
    )
    union all
    select (
        select n.need
        from /*schema*/job_need as n
        where n.of_batch = :of_batch::boolean and n.need > wanted.need
        order by n.need
        limit 1
    )
    from wanted
    where wanted.need is not null
),
seen as materialized (
    select wanted.need from wanted where wanted.need is not null limit :limit
)
select seen.need,
       case
           when :of_batch::boolean then (
               select case
                          when (select true from /*schema*/job as j where j.batch = seen.need limit 1) then null
                          when (
                              select true
                              from /*schema*/dead_letter as d
                              where (d.job ->> 'batch')::bigint = seen.need and d.source = 'job' and d.resolution is null
                              limit 1
                          ) then 'failed'
                          when (
                              select true
                              from /*schema*/dead_letter as d
                              where (d.job ->> 'batch')::bigint = seen.need and d.source = 'job' and d.resolution = 'discarded'
                              limit 1
                          ) then 'cancelled'
                          when (select b.cancelled_at is not null from /*schema*/job_batch as b where b.id = seen.need) then 'cancelled'
                          else coalesce((
                              select d.state
                              from /*schema*/job_done as d
                              where d.batch = seen.need and d.state = 'cancelled'
                                and not exists (select from /*schema*/job_done as l where l.id = d.id and l.ended_at > d.ended_at)
                              limit 1
                          ), 'done')
                      end)
           when (select true from /*schema*/job as j where j.id = seen.need limit 1) then null
           else coalesce(
               (
                   select case when d.resolution is null then 'failed' when d.resolution = 'discarded' then 'cancelled' end
                   from /*schema*/dead_letter as d
                   where d.source = 'job' and d.position = seen.need
                   order by d.id desc
                   limit 1
               ),
               (select d.state from /*schema*/job_done as d where d.id = seen.need order by d.ended_at desc limit 1),
               (
                   select n.ended
                   from /*schema*/job_need as n
                   where not n.of_batch and n.need = seen.need and n.ended is not null
                   limit 1
               ))
       end as ended
from seen
order by seen.need
