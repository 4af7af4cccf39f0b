-- How long until a delivery of a lane is due, in seconds. Index: delivery_due.
--   :subscription text   :lane int
select extract(epoch from due_at - clock_timestamp())::double precision
from /*schema*/delivery
where subscription = :subscription and lane = :lane and due_at is not null
order by due_at
limit 1
