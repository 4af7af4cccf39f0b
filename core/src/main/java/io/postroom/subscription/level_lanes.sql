-- Put lanes, old and new ones, at one position. For lanes that are locked and that no live relay has.
--   :name text   :lanes int   :position bigint   :fence bigint, greater than any that a lane of this subscription has had
--   :owner uuid?, a relay that died with a lane
-- Whoever takes a lane must know that a relay may have died of a message in it: its name stays, with a lease that has run out.
insert into /*schema*/lane as l (subscription, lane, position, fence, owner, leased_until)
select :name, lane, :position, :fence, :owner::uuid, case when :owner::uuid is not null then clock_timestamp() - interval '1 second' end
from generate_series(0, :lanes - 1) as lane
on conflict (subscription, lane) do update
    set position = excluded.position, fence = excluded.fence, owner = excluded.owner, leased_until = excluded.leased_until
