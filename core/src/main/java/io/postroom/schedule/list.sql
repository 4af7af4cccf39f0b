-- A page of schedules by name, or one of them.
--   :name text?   :after text?, the last of the page before   :limit int
-- Index: schedule_pkey, schedule_run_missed.
select s.name, s.cron, s.zone, extract(epoch from s.rate) as rate, extract(epoch from s.delay) as delay, s.missed, s.overlap, s.kind, s.queue,
       s.priority, s.tenant_id, s.payload, s.headers, s.retry, extract(epoch from s.deadline) as deadline, s.next_at, s.last_at, s.last_job,
       s.paused_at, s.paused_by, s.pause_reason, gap.fire_at as missed_at, coalesce(gap.missed, 0) as missed_times
from /*schema*/schedule as s
left join lateral (
    select r.fire_at, r.missed
    from /*schema*/schedule_run as r
    where r.schedule = s.name and r.missed > 0
    order by r.fire_at desc
    limit 1
) as gap on true
where (:name::text is null or s.name = :name::text) and (:after::text is null or s.name > :after::text)
order by s.name
limit :limit
