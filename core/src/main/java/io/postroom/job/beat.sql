-- Say that a worker is alive, and which queues it works on.
--   :id uuid   :name text   :host text   :queues text[]   :lease double precision, seconds
insert into /*schema*/worker as w (id, name, host, queues, leased_until)
values (:id, :name, :host, :queues, clock_timestamp() + make_interval(secs => :lease))
on conflict (id) do update set beat_at = clock_timestamp(), leased_until = excluded.leased_until
