-- How jobs or batches ended that others wait for, one row for each that somebody does wait for: done, failed, cancelled, or null while it has
-- not.
--   :of_batch text, a boolean   :needs bigint[], each once
-- The last end of a job counts. What failed is asked of the dead letters, which stay when ends are forgotten: an open one may still be
-- redriven, and one that was discarded is as good as cancelled; a batch keeps in mind that one of its jobs was cancelled, and a need how its
-- job ended. A batch has ended when none of its jobs is left; it is done if all are.
-- The array is a query of its own: a plan that knew how short it is would look cheaper than the one that is kept, and be made every time.
-- No exists: the planner may read the whole table once for it, where it believes that this is short.
-- Index: the primary keys, job_batch_open, job_done_id, job_done_batch, dead_letter_job, dead_letter_batch.
with seen as materialized (
    select asked.need
    from unnest((select :needs::bigint[])) as asked (need)
    where (select true from /*schema*/job_need as n where n.of_batch = :of_batch::boolean and n.need = asked.need limit 1)
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
