-- Forget some acts that are older than a day, oldest first.
--   :limit int
-- Locks: the rows, skipping locked ones. Index: act_at (at).
delete from /*schema*/act
where ctid = any (array(
    select old.ctid
    from /*schema*/act as old
    where old.at < (select clock_timestamp()) - interval '1 day'
    order by old.at
    limit :limit
    for update skip locked
))
