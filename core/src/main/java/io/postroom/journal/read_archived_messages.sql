-- Read the wide rows of some journal entries from the archive, as read_messages.sql does from the outbox.
--   :seqs bigint[]   :first_day date   :last_day date, the outbox days of these entries
--   :aggregate_types text[]?   :event_types text[]?   :tenants text[]?
-- Index: the unique one on seq that each partition has.
select seq, id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version, payload, headers,
       occurred_at, available_at,
       case when available_at > clock_timestamp() then (extract(epoch from available_at - clock_timestamp()) * 1000000)::bigint end as early,
       day
from /*schema*/outbox_archive
where seq = any (:seqs) and day between :first_day and :last_day
  and (:aggregate_types::text[] is null or aggregate_type = any (:aggregate_types::text[]))
  and (:event_types::text[] is null or event_type = any (:event_types::text[]))
  and (:tenants::text[] is null or tenant_id = any (:tenants::text[]))
