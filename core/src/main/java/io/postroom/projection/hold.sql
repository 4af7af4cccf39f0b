-- Let the lanes of generations come as far as a position and no further, for a while. While no relay has one of their lanes.
--   :read_model text   :numbers int[]   :seconds double precision
with reached as (
    select max(l.position) as position
    from /*schema*/generation as g
    join /*schema*/lane as l on l.subscription = g.subscription
    where g.read_model = :read_model and g.number = any (:numbers)
)
update /*schema*/generation
set hold_at = reached.position, hold_until = clock_timestamp() + make_interval(secs => :seconds)
from reached
where read_model = :read_model and number = any (:numbers)
returning hold_at
