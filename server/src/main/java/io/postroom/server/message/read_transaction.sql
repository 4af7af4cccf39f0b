-- Which transaction published a message, archived or not, and how many it published with it, counted up to a limit.
--   :seq bigint   :day date, where the message lies   :limit int
-- Index: the unique one on seq of the day's partition, and outbox_xid of it. A day lies in one of the two tables, and is
-- named in every part: otherwise all archived days would be locked.
with found as materialized (
    select xid, day from /*schema*/outbox where seq = :seq and day = :day
    union all
    select xid, day from /*schema*/outbox_archive where seq = :seq and day = :day
)
select found.xid::text as xid,
       (select count(*)
        from (select from /*schema*/outbox as other where other.day = :day and other.xid = found.xid
              union all
              select from /*schema*/outbox_archive as other where other.day = :day and other.xid = found.xid
              limit :limit) as counted) as messages
from found
