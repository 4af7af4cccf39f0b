-- Insert a batch of messages into the caller's transaction; they get their seq in the order of the arrays.
--   one array for each column of insert.sql, all of the same length; times as microseconds since 1970, null where there is none
-- Seconds and microseconds are added apart: bigint times interval goes through double, which has no room for both.
insert into /*schema*/outbox (id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
                              payload, headers, occurred_at, available_at)
select m.id, m.tenant_id, m.aggregate_type, m.aggregate_id, m.aggregate_version, m.event_type, m.event_version,
       m.payload::json, m.headers::json,
       timestamptz 'epoch' + m.occurred_at / 1000000 * interval '1 second' + m.occurred_at % 1000000 * interval '1 microsecond',
       timestamptz 'epoch' + m.available_at / 1000000 * interval '1 second' + m.available_at % 1000000 * interval '1 microsecond'
from unnest(:ids::uuid[], :tenant_ids::text[], :aggregate_types::text[], :aggregate_ids::text[], :aggregate_versions::bigint[],
            :event_types::text[], :event_versions::integer[], :payloads::text[], :headers::text[], :occurred_at::bigint[],
            :available_at::bigint[])
     as m (id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version, payload, headers,
           occurred_at, available_at)
