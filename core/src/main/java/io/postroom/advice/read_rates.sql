-- How many messages were stamped during the last hour, or as far as the newest ticks reach, and in its busiest minute.
--   :limit int
-- Index: the primary key of tick, backwards.
with recent as materialized (
    select position, at from /*schema*/tick order by position desc limit :limit
), within as materialized (
    select position, at from recent where at > clock_timestamp() - interval '1 hour'
), minute as (
    select date_trunc('minute', at) as begins, max(position) as last from within group by 1
), step as (
    select (last - lag(last) over (order by begins)) / extract(epoch from begins - lag(begins) over (order by begins)) as rate
    from minute
)
select coalesce(max(position) - min(position), 0) as messages,
       coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::double precision as seconds,
       coalesce((select max(rate) from step), 0)::double precision as peak
from within
