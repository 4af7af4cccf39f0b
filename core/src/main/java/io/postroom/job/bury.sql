-- Make jobs that are given up into dead letters, whole and with their history. For jobs whose rows are locked; before end.sql.
--   :ids bigint[], a hundred at most   :causes text[]   :attempts int[]   :error_classes text[]   :errors text[]   :fingerprints text[]
--   :worker text
-- The id of a message is made from that of the job, as a UUID of version 8; the hash is that of key_hash. Index: the primary key.
insert into /*schema*/dead_letter as open (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                                           event_type, event_version, payload, headers, occurred_at, available_at, cause, attempts,
                                           error_class, error, fingerprint, history, buried_by, origin, job)
select 'job', j.queue, j.id,
       (hashtextextended(j.id::text, hashtextextended('job', hashtextextended(coalesce(j.tenant_id, ''), 0))) & 2147483647)::integer,
       overlay(overlay('00000000-0000-8000-8000-000000000000' placing left(j.hex, 4) from 10) placing right(j.hex, 12) from 25)::uuid,
       j.tenant_id, 'job', j.id::text, j.kind, 1, j.payload, j.headers, j.created_at, j.run_at, b.cause, b.attempts, b.error_class,
       b.error, b.fingerprint, /*schema*/job_history(j.id), :worker, j.origin,
       jsonb_strip_nulls(jsonb_build_object('priority', j.priority, 'retry', j.retry, 'attemptsMax', j.attempts_max,
                                            'deadline', j.deadline, 'fence', j.fence, 'uniqueKey', j.unique_key,
                                            'uniqueWhile', j.unique_while, 'limitName', j.limit_name, 'limitKey', j.limit_key,
                                            'batch', j.batch))
from (
    select r.id, lpad(to_hex(r.id), 16, '0') as hex, r.queue, r.kind, r.priority, r.tenant_id, r.payload, r.headers, r.run_at, r.retry,
           r.attempts_max, r.deadline, r.fence, r.origin, r.created_at, r.unique_key, r.unique_while, r.limit_name, r.limit_key, r.batch
    from /*schema*/job as r
    where r.id = any (:ids::bigint[])
) as j
join unnest(:ids::bigint[], :causes::text[], :attempts::integer[], :error_classes::text[], :errors::text[], :fingerprints::text[])
     as b (id, cause, attempts, error_class, error, fingerprint) on b.id = j.id
on conflict (source, owner, position) where resolution is null do update
    set cause = excluded.cause, attempts = excluded.attempts, error_class = excluded.error_class, error = excluded.error,
        fingerprint = excluded.fingerprint, history = excluded.history
