-- Take a lease that nobody has, or that has run out. No row: somebody has it, or is taking it just now.
--   :name text   :holder uuid, also takes what it had before   :node text   :lease double precision, seconds
-- Locks: the row, skipping it: whoever is changing it, or has made sure of it in a transaction (require.sql), is not waited for.
-- Index: lease_pkey, three times. A fence that somebody was given must not be given again after a crash: it is on disk before it is seen.
with free as materialized (
    select name, holder
    from /*schema*/lease
    where name = :name and (holder is null or holder = :holder or leased_until <= clock_timestamp())
    for update skip locked
),
taken as (
    update /*schema*/lease as l
    set holder = :holder, node = :node,
        fence = greatest(l.fence + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint),
        leased_until = clock_timestamp() + make_interval(secs => :lease), taken_at = clock_timestamp()
    from free
    where l.name = free.name
    returning l.fence, free.holder is not null as takeover
),
made as (
    insert into /*schema*/lease (name, holder, node, fence, leased_until)
    select :name, :holder, :node, (extract(epoch from clock_timestamp()) * 1000000)::bigint,
           clock_timestamp() + make_interval(secs => :lease)
    where not exists (select from /*schema*/lease where name = :name)
    on conflict (name) do nothing
    returning fence, false as takeover
)
select fence, takeover,
       case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'local', true) end as durable
from (select fence, takeover from taken union all select fence, takeover from made) as mine
