-- Make a subscription, or bring what a release may change of an existing one up to date; its lanes and order stay as they are.
--   :name text   :lanes int   :ordering text   :aggregate_types text[]?   :event_types text[]?   :tenants text[]?
--   :on_burial text   :retry text   :receiver text   :consumer text?   :began_after bigint, for a new one
insert into /*schema*/subscription as existing (name, lanes, ordering, aggregate_types, event_types, tenants, on_burial, retry,
                                                   receiver, consumer, began_after)
values (:name, :lanes, :ordering, :aggregate_types, :event_types, :tenants, :on_burial, :retry, :receiver, :consumer, :began_after)
on conflict (name) do update
    set aggregate_types = excluded.aggregate_types, event_types = excluded.event_types, tenants = excluded.tenants,
        on_burial = excluded.on_burial, retry = excluded.retry, receiver = excluded.receiver,
        consumer = excluded.consumer
returning existing.lanes, existing.ordering
