-- Processes that are alive: relays and workers of jobs, by name.
--   :limit int
-- Small tables only.
select kind, name, serves, started_at, lease_seconds
from (
    select 'relay' as kind, r.name, r.subscriptions as serves, r.started_at,
           extract(epoch from r.leased_until - clock_timestamp())::double precision as lease_seconds
    from /*schema*/relay as r
    where r.leased_until > clock_timestamp()
    union all
    select 'worker', w.name, w.queues, w.started_at, extract(epoch from w.leased_until - clock_timestamp())::double precision
    from /*schema*/worker as w
    where w.leased_until > clock_timestamp()
) as node
order by kind, name
limit :limit
