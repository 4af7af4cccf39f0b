-- Some outbox rows for those who watch, with what stands in the fields of payloads that they watch. No order: the caller has it.
--   :seqs bigint[]   :first_day date   :last_day date, the outbox days of these rows
--   :heavy_seqs bigint[], those of them whose payloads are too much to be read; found is null there
--   :paths text[], each a text[] of names as text   :value_length_max int, found values are cut there
-- A payload with U+0000 or half a surrogate pair, which a plain insert can bring, has no fields: PostgreSQL cannot read it.
-- Index: the unique one on seq that each partition has; partitions are pruned once for all rows.
select seq, id, tenant_id, aggregate_type, aggregate_id, event_type, event_version, occurred_at,
       case when seq <> all (:heavy_seqs)
            then array(select case when strpos(payload::text, '\u') = 0
                                     or regexp_replace(replace(payload::text, '\\', ''), '\\ud[89ab]..\\ud[c-f]..', '', 'gi')
                                        !~* '\\u(0000|d[89a-f])'
                                   then left(payload #>> path::text[], :value_length_max)
                              end
                       from unnest(:paths::text[]) with ordinality as watched (path, place)
                       order by place)
       end as found
from /*schema*/outbox
where seq = any (:seqs) and day between :first_day and :last_day
