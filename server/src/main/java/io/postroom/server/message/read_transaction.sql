-- Which transaction published a message, and how many it published with it, counted up to a limit.
--   :seq bigint   :day date, where the message lies   :limit int
-- Index: the unique one on seq of the day's partition, and outbox_xid of it.
select o.xid::text as xid,
       (select count(*)
        from (select 1 from /*schema*/outbox as other where other.day = o.day and other.xid = o.xid limit :limit) as counted) as messages
from /*schema*/outbox as o
where o.seq = :seq and o.day = :day
