-- The position after which every message is surely remembered by the inbox that accepted it: it got its position, and so was accepted,
-- more recently than anything is forgotten. An hour of that is margin, for whoever works meanwhile.
--   :kept double precision, seconds for which an inbox remembers at least
-- A longer retention counts from when it was declared: what had been forgotten by then does not come back.
-- Index: the primary key of tick, backwards until it is old enough; ticks are a second or more apart by then.
select coalesce((
    select t.position
    from /*schema*/tick as t
    where t.at < interval '1 hour'
                 + least(clock_timestamp() - make_interval(secs => :kept),
                         (select min(greatest(clock_timestamp() - c.retention, c.declared_at - make_interval(secs => :kept)))
                          from /*schema*/inbox_consumer as c))
    order by t.position desc
    limit 1
), 0)
