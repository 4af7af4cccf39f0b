-- How many messages one subscription has not applied, or was given up for, that another has: deliveries and open dead letters.
--   :candidate text   :live text   :count_max int, counted no further
-- What is parked waits for one that is counted. Index: delivery_head, the primary key of delivery, dead_letter_open, dead_letter_position.
select count(*)
from (
    select
    from (
        select v.position
        from /*schema*/delivery as v
        where v.subscription = :candidate and v.state in ('waiting', 'sending', 'held', 'unreadable')
        union
        select d.position
        from /*schema*/dead_letter as d
        where d.source = 'subscription' and d.owner = :candidate and d.resolution is null
    ) as open
    where not exists (select from /*schema*/delivery as v where v.subscription = :live and v.position = open.position)
      and not exists (
          select
          from /*schema*/dead_letter as d
          where d.source = 'subscription' and d.owner = :live and d.position = open.position and d.resolution is null
      )
    limit :count_max
) as more
