-- Make a subscription, or bring the filter of an existing one up to date; its lanes and order stay as they are.
--   :name text   :lanes int   :ordering text   :aggregate_types text[]?   :event_types text[]?   :tenants text[]?
insert into /*schema*/subscription as existing (name, lanes, ordering, aggregate_types, event_types, tenants)
values (:name, :lanes, :ordering, :aggregate_types, :event_types, :tenants)
on conflict (name) do update
    set aggregate_types = excluded.aggregate_types, event_types = excluded.event_types, tenants = excluded.tenants
returning existing.lanes, existing.ordering
