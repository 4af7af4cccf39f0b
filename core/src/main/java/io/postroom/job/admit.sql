-- Let jobs through that wait for their turn: as many of each key as its limit has room for, in the order of priority and turn. Answers
-- with the keys of which some were let through, and how many.
--   :name text   :keys text[], each once   :limit int, for each key
-- For whoever has the lock of lock_limit.sql. A seat is a job that waits for nothing: it is free again when its row is gone, or waits.
-- A rate is a time up to which it is used up: each start moves it on by an equal part, and it never lags by more than a burst. Parts are
-- reckoned in seconds with fractions: an interval knows whole microseconds only, and a part may be less than one.
-- The array is a query of its own: a plan that knew how short it is would look cheaper than the one that is kept, and be made every time.
-- Seats are counted for nobody where nobody waits. Locks: the rows, skipping locked ones. Index: job_limited, the primary keys.
with seen as materialized (
    select asked.key, clock_timestamp() as at
    from unnest((select :keys::text[])) as asked (key)
    where (
        select true
        from /*schema*/job as j
        where j.waits = 'turn' and j.limit_name = :name and j.limit_key = asked.key
        limit 1
    )
),
free as materialized (
    select seen.key, used.until, used.step,
           least(l.concurrency - held.all_of_them, l.line - held.ready,
                 least(floor(extract(epoch from seen.at - used.until) / used.step), l.burst - held.ready)::bigint, :limit) as seats
    from seen
    left join /*schema*/job_limit as l on l.name = :name
    left join lateral (
        select used_until from /*schema*/job_rate where limit_name = :name and limit_key = seen.key limit 1
    ) as r on true
    cross join lateral (
        select part.step, greatest(r.used_until, seen.at - make_interval(secs => (l.burst * part.step)::double precision)) as until
        from (select extract(epoch from l.per) / l.rate as step) as part
    ) as used
    cross join lateral (
        select count(*) as all_of_them, count(*) filter (where h.state = 'ready') as ready
        from /*schema*/job as h
        where h.limit_name = :name and h.limit_key = seen.key and h.waits is null
    ) as held
),
picked as materialized (
    select free.key, one.id
    from free
    cross join lateral (
        select j.id
        from /*schema*/job as j
        where j.limit_name = :name and j.limit_key = free.key and j.waits = 'turn' and j.state = 'ready'
        order by j.priority, j.turn
        limit greatest(free.seats, 0)
        for update skip locked
    ) as one
),
taken as materialized (
    select picked.key, count(*) as jobs from picked group by picked.key
),
rated as (
    insert into /*schema*/job_rate as r (limit_name, limit_key, used_until)
    select :name, taken.key, free.until + make_interval(secs => (taken.jobs * free.step)::double precision)
    from taken
    join free on free.key = taken.key
    where free.step is not null
    on conflict (limit_name, limit_key) do update set used_until = excluded.used_until
),
admitted as (
    update /*schema*/job as j
    set waits = null, turn = default
    where j.id = any (array(select picked.id from picked))
)
select taken.key, taken.jobs from taken
