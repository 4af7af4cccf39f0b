-- Since when a consumer's inbox remembers all that it has accepted; no row if it has forgotten nothing yet. An hour of that is margin.
--   :consumer text   :kept double precision, seconds for which an inbox remembers at least
-- A longer retention counts from when it was declared: what had been forgotten by then does not come back.
-- What has forgotten nothing has received for a shorter time than that, and so have the relays that served its subscription.
select r.since
from (
    select interval '1 hour'
           + least(clock_timestamp() - make_interval(secs => :kept),
                   (select min(greatest(clock_timestamp() - m.retention, m.declared_at - make_interval(secs => :kept)))
                    from /*schema*/inbox_consumer as m)) as since
) as r
left join /*schema*/inbox_consumer as c on c.consumer = :consumer
left join /*schema*/subscription as s on s.name = :consumer
where least(c.receives_since, c.declared_at, s.created_at) < r.since
