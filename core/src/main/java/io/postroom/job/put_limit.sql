-- Declare a limit, or change one.
--   :name text   :concurrency bigint?   :rate bigint?   :per double precision?, seconds   :burst bigint?   :line bigint?
-- A limit that is as it should be is not written: many processes declare the same at the same time.
insert into /*schema*/job_limit as l (name, concurrency, rate, per, burst, line)
values (:name, :concurrency::bigint, :rate::bigint, make_interval(secs => :per::double precision), :burst::bigint, :line::bigint)
on conflict (name) do update
    set concurrency = excluded.concurrency, rate = excluded.rate, per = excluded.per, burst = excluded.burst, line = excluded.line,
        changed_at = clock_timestamp()
    where (l.concurrency, l.rate, l.per, l.burst, l.line)
          is distinct from (excluded.concurrency, excluded.rate, excluded.per, excluded.burst, excluded.line)
