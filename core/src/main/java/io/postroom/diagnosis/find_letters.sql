-- The dead letters of a message, the newest first. Index: dead_letter_message.
--   :message_id uuid   :limit int
select id, owner, position, key_hash, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at, available_at,
       cause, attempts, error_class, error, buried_at, buried_by, resolution, resolved_at, resolved_by, redrive
from /*schema*/dead_letter
where message_id = :message_id and source in ('subscription', 'kafka')
order by id desc
limit :limit
