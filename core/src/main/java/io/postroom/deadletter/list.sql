-- A page of open dead letters that fit a filter, newest first, without their payloads.
--   the parameters of deadletter/filter.sql
--   :before bigint?, the last id of the page before   :limit int
-- Index: dead_letter_list for one owner, else dead_letter_newest backwards.
select d.id, d.source, d.owner, d.position, d.message_id, d.tenant_id, d.aggregate_type, d.aggregate_id, d.event_type,
       d.cause, d.attempts, d.error_class, d.error, d.fingerprint, d.buried_at, d.buried_by
from /*schema*/dead_letter as d
where d.resolution is null
  and (:before::bigint is null or d.id < :before::bigint)
  /*filter*/
order by d.id desc
limit :limit
