-- Let everybody see that a destination takes nothing at the moment. The subscription may have been removed meanwhile.
--   :subscription text   :relay_id uuid   :wait double precision, seconds   :failures int   :error_class text   :error text
insert into /*schema*/circuit as existing (subscription, relay, probe_at, failures, error_class, error)
select s.name, :relay_id, clock_timestamp() + make_interval(secs => :wait), :failures, :error_class, :error
from /*schema*/subscription as s
where s.name = :subscription
on conflict (subscription, relay) do update
    set probe_at = excluded.probe_at, failures = excluded.failures, error_class = excluded.error_class, error = excluded.error
