-- Those of some outbox rows, archived or not, that fit, without payloads. No order: the caller has it.
--   :seqs bigint[]   :first_day date   :last_day date, the outbox days of these rows
--   :event_type text?   :aggregate_type text?   :aggregate_id text?   :tenant text?
--   :find text?, an event type, aggregate type or aggregate id   :path text[]?, :value text?, a field of the payload and what stands there
-- A payload with U+0000 or half a surrogate pair, which a plain insert can bring, has no fields: PostgreSQL cannot read it.
-- Index: the unique one on seq that each partition has; partitions are pruned once for all rows.
select seq, id, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at
from /*schema*/outbox
where seq = any (:seqs) and day between :first_day and :last_day
  and (:event_type::text is null or event_type = :event_type::text)
  and (:aggregate_type::text is null or aggregate_type = :aggregate_type::text)
  and (:aggregate_id::text is null or aggregate_id = :aggregate_id::text)
  and (:tenant::text is null or tenant_id = :tenant::text)
  and (:find::text is null or :find::text in (event_type, aggregate_type, aggregate_id))
  and (:path::text[] is null
       or case when strpos(payload::text, '\u') = 0
                 or regexp_replace(replace(payload::text, '\\', ''), '\\ud[89ab]..\\ud[c-f]..', '', 'gi') !~* '\\u(0000|d[89a-f])'
               then payload #>> :path::text[]
          end = :value::text)
union all
select seq, id, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at
from /*schema*/outbox_archive
where seq = any (:seqs) and day between :first_day and :last_day
  and (:event_type::text is null or event_type = :event_type::text)
  and (:aggregate_type::text is null or aggregate_type = :aggregate_type::text)
  and (:aggregate_id::text is null or aggregate_id = :aggregate_id::text)
  and (:tenant::text is null or tenant_id = :tenant::text)
  and (:find::text is null or :find::text in (event_type, aggregate_type, aggregate_id))
  and (:path::text[] is null
       or case when strpos(payload::text, '\u') = 0
                 or regexp_replace(replace(payload::text, '\\', ''), '\\ud[89ab]..\\ud[c-f]..', '', 'gi') !~* '\\u(0000|d[89a-f])'
               then payload #>> :path::text[]
          end = :value::text)
