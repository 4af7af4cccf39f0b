-- Messages with an id, among all of some days, archived ones too; the newest first. Reads those partitions whole: the statement's timeout bounds it.
--   :id uuid   :first_day date   :last_day date, exclusive   :limit int
select xid::text as xid, seq, day, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at, available_at
from /*schema*/outbox
where id = :id and day >= :first_day and day < :last_day
union all
select xid::text as xid, seq, day, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at, available_at
from /*schema*/outbox_archive
where id = :id and day >= :first_day and day < :last_day
order by seq desc
limit :limit
