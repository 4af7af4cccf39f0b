-- A relay says goodbye; with it go those that have not been heard of for a day.
--   :id uuid
-- Where their projections were behind another inbox than those of relays that were started later, or behind none, that inbox does not know
-- what has taken effect until now.
with gone as (
    delete from /*schema*/relay
    where id = :id or leased_until < clock_timestamp() - interval '1 day'
    returning id, subscriptions, started_at
)
update /*schema*/subscription as s
set inbox_after = (select max(position) from /*schema*/tick)
from gone
where s.name = any (gone.subscriptions) and s.consumer_at > gone.started_at
