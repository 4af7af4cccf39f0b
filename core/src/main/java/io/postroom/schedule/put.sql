-- Declare a schedule, or change it. When it fires next is kept unless that has changed.
--   :name text   :cron text?   :zone text?   :rate double precision?, seconds   :delay double precision?, seconds   :missed text
--   :overlap text, a boolean   :kind text   :queue text   :priority int   :tenant_id text?   :payload text, JSON   :headers text?, JSON
--   :retry text?   :deadline double precision?, seconds   :next_at timestamptz
-- Many nodes declare the same when they start: what is as it should be is not written.
insert into /*schema*/schedule as s (name, cron, zone, rate, delay, missed, overlap, kind, queue, priority, tenant_id, payload, headers, retry,
                                     deadline, next_at)
values (:name, :cron, :zone, make_interval(secs => :rate::double precision), make_interval(secs => :delay::double precision), :missed,
        :overlap::boolean, :kind, :queue, :priority, :tenant_id, :payload::json, :headers::json, :retry,
        make_interval(secs => :deadline::double precision), :next_at)
on conflict (name) do update
    set cron = excluded.cron, zone = excluded.zone, rate = excluded.rate, delay = excluded.delay, missed = excluded.missed,
        overlap = excluded.overlap, kind = excluded.kind, queue = excluded.queue, priority = excluded.priority,
        tenant_id = excluded.tenant_id, payload = excluded.payload, headers = excluded.headers, retry = excluded.retry,
        deadline = excluded.deadline,
        next_at = case
                      -- Its job has not ended: the new delay begins then.
                      when s.next_at is null and excluded.delay is not null then null
                      when (s.cron, s.zone, s.rate, s.delay) is distinct from (excluded.cron, excluded.zone, excluded.rate, excluded.delay)
                          then excluded.next_at
                      else s.next_at
                  end
    where (s.cron, s.zone, s.rate, s.delay, s.missed, s.overlap, s.kind, s.queue, s.priority, s.tenant_id, s.payload::text, s.headers::text,
           s.retry, s.deadline)
          is distinct from
          (excluded.cron, excluded.zone, excluded.rate, excluded.delay, excluded.missed, excluded.overlap, excluded.kind, excluded.queue,
           excluded.priority, excluded.tenant_id, excluded.payload::text, excluded.headers::text, excluded.retry, excluded.deadline)
