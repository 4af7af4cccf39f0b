-- Messages with an id, among those of some days and seqs, archived ones too; the newest first. There is no index on the id: the seqs bound what is read.
--   :id uuid   :first_day date   :last_day date, exclusive   :seq_after bigint   :seq_to bigint   :limit int
-- Index: the unique one on seq that each partition has.
select xid::text as xid, seq, day, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at, available_at
from /*schema*/outbox
where id = :id and day >= :first_day and day < :last_day and seq > :seq_after and seq <= :seq_to
union all
select xid::text as xid, seq, day, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at, available_at
from /*schema*/outbox_archive
where id = :id and day >= :first_day and day < :last_day and seq > :seq_after and seq <= :seq_to
order by seq desc
limit :limit
