-- Whether a subscription carries messages to Kafka for another one that is served there, or is about to be.
--   :name text
-- Moves are few.
select exists (
    select
    from /*schema*/subscription_move as m
    join /*schema*/subscription as s on s.name = m.subscription
    where m.feed = :name and m.target = 'kafka' and (m.ended_at is null or m.outcome = 'done' and s.served_by = 'kafka')
)
