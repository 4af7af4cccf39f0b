-- Insert one message into the caller's transaction.
--   :id uuid   :tenant_id text?   :aggregate_type text   :aggregate_id text   :aggregate_version bigint?   :event_type text
--   :event_version int   :payload text, JSON   :headers text?, JSON   :occurred_at timestamptz   :available_at timestamptz?
-- xid, seq and day are left to their defaults: the stamp relies on the order in which they are drawn.
insert into /*schema*/outbox (id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
                              payload, headers, occurred_at, available_at)
values (:id, :tenant_id, :aggregate_type, :aggregate_id, :aggregate_version, :event_type, :event_version,
        :payload::json, :headers::json, :occurred_at, :available_at)
