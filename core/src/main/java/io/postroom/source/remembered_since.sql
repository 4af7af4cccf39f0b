-- Since when a consumer's inbox remembers all that it has accepted; no row if it has forgotten nothing yet. An hour of that is margin.
--   :consumer text   :kept double precision, seconds for which an inbox remembers at least
-- What has forgotten nothing has received for a shorter time than that, and so have the relays that served its subscription.
select r.since
from (
    select clock_timestamp() + interval '1 hour'
           - greatest(make_interval(secs => :kept), (select max(m.retention) from /*schema*/inbox_consumer as m)) as since
) as r
left join /*schema*/inbox_consumer as c on c.consumer = :consumer
left join /*schema*/subscription as s on s.name = :consumer
where least(c.receives_since, s.created_at) < r.since
