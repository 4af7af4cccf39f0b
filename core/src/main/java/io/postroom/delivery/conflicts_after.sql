-- From where conflicts.sql reads the journal, or some way before: the first open dead letter of a subscription, or of any.
--   :owner text?   :entries_max bigint, how far back from its end the journal is read
-- Index: dead_letter_open, for each subscription.
select greatest(coalesce(min(first.position), 0), (select max(position) from /*schema*/tick) - :entries_max)
from /*schema*/subscription as s
cross join lateral (
    select d.position
    from /*schema*/dead_letter as d
    where d.source = 'subscription' and d.owner = s.name and d.resolution is null
    order by d.position
    limit 1
) as first
where :owner::text is null or s.name = :owner::text
