-- Queues that have jobs, have workers or are paused, and how many jobs of each can be claimed, wait and run.
-- Reads every job that has not ended: for people, now and then.
select q.name, coalesce(max(j.ready), 0) as ready, coalesce(max(j.waiting), 0) as waiting, coalesce(max(j.running), 0) as running,
       (select count(*) from /*schema*/worker as w where q.name = any (w.queues) and w.leased_until > clock_timestamp()) as workers,
       max(p.paused_at) as paused_at, max(p.paused_by) as paused_by, max(p.pause_reason) as pause_reason
from (
    select queue as name from /*schema*/job
    union
    select unnest(queues) from /*schema*/worker
    union
    select name from /*schema*/job_queue
) as q
left join (
    select queue, count(*) filter (where state = 'ready' and waits is null) as ready, count(*) filter (where waits is not null) as waiting,
           count(*) filter (where state = 'running') as running
    from /*schema*/job
    group by queue
) as j on j.queue = q.name
left join /*schema*/job_queue as p on p.name = q.name
group by q.name
order by q.name
