-- Make a copy of a subscription under another name, which relays of the original serve. Zero rows: the name is taken.
--   :name text   :copy text   :rate text?, a number   :began_after bigint
insert into /*schema*/subscription (name, lanes, ordering, aggregate_types, event_types, tenants, on_burial, retry, copy_of, replay_rate,
                                    began_after)
select :copy, lanes, ordering, aggregate_types, event_types, tenants, on_burial, retry, name, :rate::text::double precision, :began_after
from /*schema*/subscription
where name = :name
on conflict (name) do nothing
