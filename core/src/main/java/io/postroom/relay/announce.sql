-- Say that a relay is alive and what it serves.
--   :id uuid   :name text   :subscriptions text[]   :lease double precision, seconds
insert into /*schema*/relay as existing (id, name, subscriptions, leased_until)
values (:id, :name, :subscriptions, clock_timestamp() + make_interval(secs => :lease))
on conflict (id) do update set leased_until = excluded.leased_until, subscriptions = excluded.subscriptions
