-- When a position had been given out: the time of the first tick that has it, or of the last tick if none has. A replay from this time on
-- begins after the position, or later where ticks were thinned out.
--   :position bigint
-- Index: the primary key of tick.
select coalesce(
    (select t.at from /*schema*/tick as t where t.position >= :position order by t.position limit 1),
    (select t.at from /*schema*/tick as t order by t.position desc limit 1))
