-- Whether a message that a tail wants and that is not due yet lies beyond its lane's position.
--   :subscription text
-- Only asked when a tail ends; stops at the first one.
select exists (
    select 1
    from /*schema*/lane as lane
    join /*schema*/subscription as s on s.name = lane.subscription
    join /*schema*/journal as j on j.position > lane.position
    join /*schema*/outbox as o on o.seq = j.seq and o.day = j.outbox_day
    where lane.subscription = :subscription
      and o.available_at > clock_timestamp()
      and (s.aggregate_types is null or o.aggregate_type = any (s.aggregate_types))
      and (s.event_types is null or o.event_type = any (s.event_types))
      and (s.tenants is null or o.tenant_id = any (s.tenants))
)
