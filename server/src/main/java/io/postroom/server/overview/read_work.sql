-- Failed jobs that nobody has decided about, queues with jobs that nobody claims, and views whose refresh fails.
--   :count_max int, failed jobs are counted no further, and no more queues are looked at   :names_max int, so many names of each kind
-- Index: dead_letter_open by its source; job_claim, from queue to queue; workers, switches of queues and views are few.
-- A queue is looked at by the first hundred of its jobs: some of them are old where nobody works. Names as text: the driver knows no
-- arrays of the types that they have.
with recursive name as (
    (
        select queue, 1 as n
        from /*schema*/job
        where state = 'ready' and waits is null
        order by (hashtextextended(queue, 0) << 16) + priority
        limit 1
    )
    union all
    select following.queue, name.n + 1
    from name
    cross join lateral (
        select j.queue
        from /*schema*/job as j
        where j.state = 'ready' and j.waits is null
          and (hashtextextended(j.queue, 0) << 16) + j.priority > (hashtextextended(name.queue, 0) << 16) + 32767
        order by (hashtextextended(j.queue, 0) << 16) + j.priority
        limit 1
    ) as following
    where name.n < :count_max
),
unserved as (
    select name.queue
    from name
    where not exists (select from /*schema*/worker as w where name.queue = any (w.queues) and w.leased_until > clock_timestamp())
      and not exists (select from /*schema*/job_queue as q where q.name = name.queue and q.paused_at is not null)
      and exists (
          select
          from (
              select j.queue, j.run_at
              from /*schema*/job as j
              where (hashtextextended(j.queue, 0) << 16) + j.priority >= (hashtextextended(name.queue, 0) << 16) - 32768
                and j.state = 'ready' and j.waits is null
              order by (hashtextextended(j.queue, 0) << 16) + j.priority, j.turn
              limit 100
          ) as first
          where first.queue = name.queue and first.run_at < clock_timestamp() - interval '1 minute'
      )
)
select (
           select count(*)
           from (select from /*schema*/dead_letter where source = 'job' and resolution is null limit :count_max) as failed
       ) as failed_jobs,
       array(select queue::text from unserved order by queue limit :names_max) as unserved,
       array(select name::text from /*schema*/materialized_view where failures > 0 order by name limit :names_max) as failing_views
