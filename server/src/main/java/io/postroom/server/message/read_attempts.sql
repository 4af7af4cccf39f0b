-- The last attempts at delivering a message, of every subscription, oldest first.
--   :position bigint   :limit int
-- Index: attempt_message, once for each subscription and partition.
select subscription, attempt, at, seconds, node, outcome, error_class, error
from (
    select a.subscription, a.attempt, a.at, extract(epoch from a.duration)::double precision as seconds, a.node, a.outcome,
           a.error_class, a.error
    from /*schema*/subscription as s
    cross join lateral (
        select t.subscription, t.attempt, t.at, t.duration, t.node, t.outcome, t.error_class, t.error
        from /*schema*/attempt as t
        where t.subscription = s.name and t.position = :position
        order by t.at desc
        limit :limit
    ) as a
    order by a.at desc
    limit :limit
) as last
order by at
