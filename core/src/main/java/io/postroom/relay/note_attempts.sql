-- Remember attempts that failed, and of messages that were retried the one that did not.
--   :subscription text
--   :positions bigint[]   :attempts int[]   :durations bigint[], microseconds   :nodes text[]   :outcomes text[]
--   :error_classes text[]   :errors text[]   :fingerprints text[]
insert into /*schema*/attempt (subscription, position, attempt, duration, node, outcome, error_class, error, fingerprint)
select :subscription, a.position, a.attempt, make_interval(secs => a.duration / 1000000.0), a.node, a.outcome, a.error_class, a.error,
       a.fingerprint
from unnest(:positions::bigint[], :attempts::integer[], :durations::bigint[], :nodes::text[], :outcomes::text[],
            :error_classes::text[], :errors::text[], :fingerprints::text[])
    as a (position, attempt, duration, node, outcome, error_class, error, fingerprint)
