-- Say how long a consumer's messages must be remembered. The last word counts.
--   :consumer text   :retention double precision, seconds   :redelivery double precision, seconds
insert into /*schema*/inbox_consumer (consumer, retention, redelivery)
values (:consumer, make_interval(secs => :retention), make_interval(secs => :redelivery))
on conflict (consumer) do update
    set retention = excluded.retention, redelivery = excluded.redelivery, declared_at = excluded.declared_at
    where (inbox_consumer.retention, inbox_consumer.redelivery) is distinct from (excluded.retention, excluded.redelivery)
