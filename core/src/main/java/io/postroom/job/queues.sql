-- Queues that have jobs, have workers or are paused, and how many jobs of each can be claimed, wait and run.
--   :count_max int, what can be claimed of a queue, and what runs or waits for one kind of thing in all queues, is counted no further
-- Index: job_claim, from queue to queue; job_due, job_limited, job_need and the primary key for what waits; job_running.
-- What is counted is read from the first one on, and perhaps some of the next queue with it: an end of the queue would let a planner expect
-- few and read all. The orders, and the limit of one, mean nothing but the index: without them a plan may read all the others for the few it wants.
with recursive name as (
    (
        select queue
        from /*schema*/job
        where state = 'ready' and waits is null
        order by (hashtextextended(queue, 0) << 16) + priority
        limit 1
    )
    union all
    select following.queue
    from name
    cross join lateral (
        select j.queue
        from /*schema*/job as j
        where j.state = 'ready' and j.waits is null
          and (hashtextextended(j.queue, 0) << 16) + j.priority > (hashtextextended(name.queue, 0) << 16) + 32767
        order by (hashtextextended(j.queue, 0) << 16) + j.priority
        limit 1
    ) as following
),
counted as (
    select queue,
           (
               select count(*)
               from (
                   select j.queue
                   from /*schema*/job as j
                   where (hashtextextended(j.queue, 0) << 16) + j.priority >= (hashtextextended(name.queue, 0) << 16) - 32768
                     and j.state = 'ready' and j.waits is null
                   order by (hashtextextended(j.queue, 0) << 16) + j.priority, j.turn
                   limit :count_max
               ) as claimable
               where claimable.queue = name.queue
           ) as ready,
           0 as waiting, 0 as running
    from name
    union all
    select queue, 0, count(*), 0
    from (
        (select queue from /*schema*/job where waits = 'time' order by run_at limit :count_max)
        union all
        (
            select queue
            from /*schema*/job
            where waits = 'turn' and limit_name is not null
            order by limit_name, limit_key
            limit :count_max
        )
        union all
        (
            select j.queue
            from (select distinct job_id from (select job_id from /*schema*/job_need limit :count_max) as needed) as need
            cross join lateral (select queue from /*schema*/job where id = need.job_id and waits = 'jobs' limit 1) as j
        )
    ) as waiting
    group by queue
    union all
    select queue, 0, 0, count(*)
    from (select queue from /*schema*/job where state = 'running' order by worker, deadline_at limit :count_max) as running
    group by queue
),
queue as (
    select queue as name, ready, waiting, running from counted
    union all
    select unnest(queues), 0, 0, 0 from /*schema*/worker
    union all
    select name, 0, 0, 0 from /*schema*/job_queue
)
select q.name, sum(q.ready)::bigint as ready, sum(q.waiting)::bigint as waiting, sum(q.running)::bigint as running,
       (select count(*) from /*schema*/worker as w where q.name = any (w.queues) and w.leased_until > clock_timestamp()) as workers,
       max(p.paused_at) as paused_at, max(p.paused_by) as paused_by, max(p.pause_reason) as pause_reason
from queue as q
left join /*schema*/job_queue as p on p.name = q.name
group by q.name
order by q.name
