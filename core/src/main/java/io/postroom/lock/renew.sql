-- Keep a lease; says whether that was possible, and whether it is still the holder's.
--   :name text   :holder uuid   :fence bigint   :lease double precision, seconds
-- Locks: the row, skipping it: one thread renews for all. A transaction that has made sure of the lease (require.sql) is no obstacle.
-- Index: lease_pkey, three times.
with mine as materialized (
    select name
    from /*schema*/lease
    where name = :name and holder = :holder and fence = :fence
    for no key update skip locked
),
renewed as (
    update /*schema*/lease as l
    set leased_until = clock_timestamp() + make_interval(secs => :lease)
    from mine
    where l.name = mine.name
    returning l.name
)
select exists (select from renewed) as renewed,
       exists (select from /*schema*/lease where name = :name and holder = :holder and fence = :fence) as held
