-- Keys of open dead letters, of subscriptions that keep order, whose later messages were delivered: how many, whether all were
-- looked at and compared, and some of them.
--   :owner text?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
--   :entries_max bigint, how far back from its end the journal is read   :compared_max int   :samples_max int
-- A later message was delivered if the lane is beyond it, it has no delivery of its own and no open dead letter, and the subscription
-- wants it. The journal knows only a hash of the key, so names and filter are compared in the outbox; where there are more than
-- :compared_max to compare, or the outbox has them no more, the hash decides.
-- One pass over the journal, whatever the number of dead letters; run prefer_hashes.sql before.
with letters as materialized (
    select d.owner, d.key_hash, d.tenant_id, d.aggregate_type, d.aggregate_id, min(d.position) as position
    from /*schema*/dead_letter as d
    where d.resolution is null and d.source = 'subscription'
      and (:owner::text is null or d.owner = :owner::text)
      and (:event_types::text[] is null or d.event_type = any (:event_types::text[]))
      and (:tenants::text[] is null or d.tenant_id = any (:tenants::text[]))
      and (:aggregate_type::text is null or d.aggregate_type = :aggregate_type::text)
      and (:aggregate_id::text is null or d.aggregate_id = :aggregate_id::text)
      and (:error_class::text is null or d.error_class = :error_class::text)
      and (:fingerprint::text is null or d.fingerprint = :fingerprint::text)
      and (:cause::text is null or d.cause = :cause::text)
      and (:ids::bigint[] is null or d.id = any (:ids::bigint[]))
      and (:buried_from::timestamptz is null or d.buried_at >= :buried_from::timestamptz)
      and (:buried_to::timestamptz is null or d.buried_at < :buried_to::timestamptz)
    group by d.owner, d.key_hash, d.tenant_id, d.aggregate_type, d.aggregate_id
),
span as materialized (
    select first, greatest(first, (select max(position) from /*schema*/tick) - :entries_max) as after
    from (select min(position) as first from letters) as letters
),
first_day as materialized (
    select day
    from /*schema*/tick
    where position <= (select after from span)
    order by position desc
    limit 1
),
later as materialized (
    -- Of a subscription without a filter the last message of a key is enough.
    select l.owner, l.key_hash, max(j.position) as position
    from letters as l
    join /*schema*/subscription as s on s.name = l.owner and s.ordering = 'key'
    join /*schema*/lane as lane on lane.subscription = s.name and lane.lane = l.key_hash % s.lanes
    join /*schema*/journal as j on j.key_hash = l.key_hash and j.position > l.position
    where j.position > (select after from span) and j.day >= (select day from first_day)
      -- While it is replayed, a lane stands before what it had delivered.
      and j.position <= coalesce(lane.resume_at, lane.position)
      and not exists (
          select from /*schema*/delivery as v where v.subscription = l.owner and v.position = j.position
      )
      and not exists (
          select from /*schema*/dead_letter as o
          where o.source = 'subscription' and o.owner = l.owner and o.position = j.position and o.resolution is null
      )
    group by l.owner, l.key_hash, case when num_nonnulls(s.aggregate_types, s.event_types, s.tenants) > 0 then j.position end
),
compared as materialized (
    select position from later where (select count(*) from later) <= :compared_max
),
entry as materialized (
    select j.position, j.seq, j.outbox_day
    from /*schema*/journal as j
    where j.position = any (array(select position from compared))
      and j.position >= (select min(position) from compared) and j.day >= (select day from first_day)
),
known as materialized (
    select entry.position, o.tenant_id, o.aggregate_type, o.aggregate_id, o.event_type
    from /*schema*/outbox as o
    join entry on entry.seq = o.seq and entry.outbox_day = o.day
    where o.seq = any (array(select seq from entry))
      and o.day between (select min(outbox_day) from entry) and (select max(outbox_day) from entry)
),
conflict as materialized (
    select l.owner, l.tenant_id, l.aggregate_type, l.aggregate_id
    from later
    join letters as l on l.owner = later.owner and l.key_hash = later.key_hash
    join /*schema*/subscription as s on s.name = l.owner
    left join known as k on k.position = later.position
    where k.position is null
       or k.tenant_id is not distinct from l.tenant_id and k.aggregate_type = l.aggregate_type and k.aggregate_id = l.aggregate_id
          and (s.aggregate_types is null or k.aggregate_type = any (s.aggregate_types))
          and (s.event_types is null or k.event_type = any (s.event_types))
          and (s.tenants is null or k.tenant_id = any (s.tenants))
    group by l.owner, l.tenant_id, l.aggregate_type, l.aggregate_id
)
select (select count(*) from conflict) as keys,
       (select count(*) from later) <= :compared_max and (select coalesce(after = first, true) from span) as exact,
       array(select aggregate_type || ' ' || aggregate_id from conflict limit :samples_max) as samples
