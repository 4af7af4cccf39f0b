-- Keys of open dead letters, of subscriptions that keep order, whose later messages were delivered: how many, whether all were
-- looked at and compared, and some of them.
--   the parameters of deadletter/filter.sql
--   :entries_max bigint, how far back from its end the journal is read   :keys_max int, of how many keys
--   :messages_max int, how many messages of these keys are looked at   :compared_max int   :samples_max int
--   :first_archived date?   :last_archived date?, the archived days of what is read: without them all there are would be locked
-- A later message was delivered if the lane is beyond it, it has no delivery of its own and no open dead letter, and the subscription
-- wants it. The journal knows only a hash of the key, so names and filter are compared in the outbox, for :compared_max messages. If
-- there are more, those of subscriptions without a filter are told by the hash, and so is what the outbox has no more, or what was
-- archived long before its entry.
-- One pass over the journal and its archive, whatever the number of dead letters; run prefer_hashes.sql before.
with letters as materialized (
    select d.owner, d.key_hash, d.tenant_id, d.aggregate_type, d.aggregate_id, min(d.position) as position
    from /*schema*/dead_letter as d
    where d.resolution is null and d.source = 'subscription'
      /*filter*/
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
entry_of_key as materialized (
    -- Not a join, and limited, so that the planner can choose nothing but one pass with a look into a hash table.
    select position, key_hash
    from (
        select position, key_hash, day from /*schema*/journal
        union all
        select position, key_hash, day from /*schema*/journal_archive where day between :first_archived::date and :last_archived::date
    ) as j
    where position > (select after from span) and day >= (select day from first_day)
      and position <= (select max(coalesce(resume_at, position)) from /*schema*/lane)
      and (key_hash in (select key_hash from letters limit :keys_max)) is true
    limit :messages_max
),
open_letter as materialized (
    -- What the join needs of the index, and no more: else it is read from end to end, for two dead letters too.
    select o.owner, o.position
    from /*schema*/dead_letter as o
    where o.source = 'subscription' and o.resolution is null
      and o.owner = any (array(select distinct owner from letters)) and o.position > (select after from span)
    -- As the index has it: so that the planner takes no other way.
    order by o.source, o.owner, o.position
),
later_message as materialized (
    select l.owner, l.key_hash, j.position, num_nonnulls(s.aggregate_types, s.event_types, s.tenants) > 0 as filtered
    from letters as l
    join /*schema*/subscription as s on s.name = l.owner and s.ordering = 'key'
    join /*schema*/lane as lane on lane.subscription = s.name and lane.lane = l.key_hash % s.lanes
    join entry_of_key as j on j.key_hash = l.key_hash and j.position > l.position
    -- While it is replayed, a lane stands before what it had delivered.
    where j.position <= coalesce(lane.resume_at, lane.position)
      and not exists (
          select from /*schema*/delivery as v where v.subscription = l.owner and v.position = j.position
      )
      and not exists (
          select from open_letter as o where o.owner = l.owner and o.position = j.position
      )
),
later as materialized (
    -- Of a subscription without a filter one message of a key is enough.
    select owner, key_hash, filtered, max(position) as position
    from later_message
    group by owner, key_hash, filtered, case when filtered then position end
),
compared as materialized (
    select position
    from later
    where filtered or (select count(*) from later) <= :compared_max
    limit :compared_max
),
entry as materialized (
    select j.position, j.seq, j.outbox_day
    from (
        select position, seq, outbox_day, day from /*schema*/journal
        union all
        select position, seq, outbox_day, day
        from /*schema*/journal_archive
        where day between :first_archived::date and :last_archived::date
    ) as j
    where j.position = any (array(select position from compared))
      and j.position >= (select min(position) from compared) and j.day >= (select day from first_day)
),
known as materialized (
    select entry.position, o.tenant_id, o.aggregate_type, o.aggregate_id, o.event_type
    from (
        select seq, day, tenant_id, aggregate_type, aggregate_id, event_type from /*schema*/outbox
        union all
        select seq, day, tenant_id, aggregate_type, aggregate_id, event_type
        from /*schema*/outbox_archive
        where day between :first_archived::date - 1 and :last_archived::date
    ) as o
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
    left join compared as c on c.position = later.position
    where k.position is null and (c.position is not null or not later.filtered)
       or k.tenant_id is not distinct from l.tenant_id and k.aggregate_type = l.aggregate_type and k.aggregate_id = l.aggregate_id
          and (s.aggregate_types is null or k.aggregate_type = any (s.aggregate_types))
          and (s.event_types is null or k.event_type = any (s.event_types))
          and (s.tenants is null or k.tenant_id = any (s.tenants))
    group by l.owner, l.tenant_id, l.aggregate_type, l.aggregate_id
)
select (select count(*) from conflict) as keys,
       (select count(*) from letters) < :keys_max and (select count(*) from entry_of_key) < :messages_max
           and (select count(*) from later) <= :compared_max and (select coalesce(after = first, true) from span) as exact,
       array(select aggregate_type || ' ' || aggregate_id from conflict limit :samples_max) as samples
