-- The same for a state that few are in: held, sending or unreadable. However many are parked before them, they are found at once.
--   :name text   :state text   :after bigint   :limit int
-- Index: delivery_held; delivery_sending, without an order of its own, or the planner would walk through all that is parked.
select array(
    select position
    from (
        (
            select position
            from /*schema*/delivery
            where subscription = :name and state = 'held' and :state::text = 'held' and position > :after
            order by position
            limit :limit
        )
        union all
        select position
        from (
            select position, state
            from /*schema*/delivery
            where subscription = :name and state in ('sending', 'unreadable') and position > :after
            offset 0
        ) as begun
        where state = :state::text
    ) as few
    order by position
    limit :limit
) as found
