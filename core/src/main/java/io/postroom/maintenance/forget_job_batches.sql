-- Forget batches of jobs that were begun long ago: none of their jobs is left or may come back, and nobody waits for them.
--   :kept double precision, seconds   :limit int
-- No exists: the planner may read whole tables for it. Index: job_batch_open, the primary key of job_need, dead_letter_batch.
delete from /*schema*/job_batch as b
where b.id = any (array(
    select old.id
    from /*schema*/job_batch as old
    where old.created_at < clock_timestamp() - make_interval(secs => :kept)
      and (select true from /*schema*/job as j where j.batch = old.id limit 1) is null
      and (select true from /*schema*/job_need as n where n.of_batch and n.need = old.id limit 1) is null
      and (
          select true
          from /*schema*/dead_letter as d
          where (d.job ->> 'batch')::bigint = old.id and d.source = 'job' and d.resolution is null
          limit 1
      ) is null
    order by old.id
    limit :limit
))
