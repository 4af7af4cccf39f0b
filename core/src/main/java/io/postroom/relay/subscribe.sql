-- Make a subscription, or bring what a release may change of an existing one up to date; its lanes and order stay as they are.
--   :name text   :lanes int   :ordering text   :aggregate_types text[]?   :event_types text[]?   :tenants text[]?
--   :on_burial text   :retry text   :receiver text   :consumer text?   :began_after bigint, for a new one
-- What was there before another inbox was used, that one does not know.
insert into /*schema*/subscription as existing (name, lanes, ordering, aggregate_types, event_types, tenants, on_burial, retry,
                                                   receiver, consumer, consumer_at, inbox_after, began_after)
values (:name, :lanes, :ordering, :aggregate_types, :event_types, :tenants, :on_burial, :retry, :receiver, :consumer,
        clock_timestamp(), :began_after, :began_after)
on conflict (name) do update
    set aggregate_types = excluded.aggregate_types, event_types = excluded.event_types, tenants = excluded.tenants,
        on_burial = excluded.on_burial, retry = excluded.retry, receiver = excluded.receiver, consumer = excluded.consumer,
        consumer_at = case when existing.consumer is distinct from excluded.consumer then clock_timestamp()
                           else existing.consumer_at
                      end,
        inbox_after = case when existing.consumer is distinct from excluded.consumer then (select max(position) from /*schema*/tick)
                           else existing.inbox_after
                      end
returning existing.lanes, existing.ordering
