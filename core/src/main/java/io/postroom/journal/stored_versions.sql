-- Which versions of which event types are stored: how many messages of each the outbox and its archive hold, how many open dead letters have it,
-- and the first and the last day on which one was published or buried.
--   :limit int
-- Reads both whole, once, in every partition; no index helps. Payloads that are stored apart are not fetched. Takes no lock
-- that anybody waits for, but holds its snapshot until it is done: an operator's check, nothing to poll.
with stored as (
    select event_type, event_version, count(*) as messages, 0 as dead_letters, min(day) as oldest_day, max(day) as newest_day
    from /*schema*/outbox
    group by event_type, event_version
    union all
    select event_type, event_version, count(*), 0, min(day), max(day)
    from /*schema*/outbox_archive
    group by event_type, event_version
    union all
    select event_type, event_version, 0, count(*), min((buried_at at time zone 'utc')::date), max((buried_at at time zone 'utc')::date)
    from /*schema*/dead_letter
    where resolution is null and source <> 'job'
    group by event_type, event_version
)
select event_type, event_version, sum(messages)::bigint as messages, sum(dead_letters)::bigint as dead_letters,
       min(oldest_day) as oldest_day, max(newest_day) as newest_day
from stored
group by event_type, event_version
order by event_type collate "C", event_version
limit :limit
