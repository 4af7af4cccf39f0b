-- Every group of open dead letters by what went wrong: the greatest first. How many letters each has is counted up to a limit; its keys and
-- tenants are those of its newest letters, up to another. Both limits are smaller the more groups there are, and told in every row. Always a
-- row, without a group if nothing fits.
--   :steps_max int, so many groups are looked for   :limit int, how many are shown
--   :letters_max int, are counted in all groups together   :sample_max int, are read in all groups together
--   :owner text?   :sources text[]?   :event_types text[]?   :fingerprint text?
-- Steps from group to group: a million letters of one group hide no other. Index: dead_letter_group, and the primary key. Bounds
-- and orders are those of that index, whole: with equal columns the planner would walk through all letters by their ids.
with recursive step as (
    (
        select d.owner, d.fingerprint, d.event_type, 1 as number
        from /*schema*/dead_letter as d
        where d.resolution is null and (d.owner, d.fingerprint, d.event_type) >= (
            coalesce(:owner::text, ''), case when :owner::text is null then '' else coalesce(:fingerprint::text, '') end, '')
        order by d.owner, d.fingerprint, d.event_type
        limit 1
    )
    union all
    select next.owner, next.fingerprint, next.event_type, step.number + 1
    from step
    cross join lateral (
        select d.owner, d.fingerprint, d.event_type
        from /*schema*/dead_letter as d
        where d.resolution is null and (d.owner, d.fingerprint, d.event_type) > (step.owner, step.fingerprint, step.event_type)
        order by d.owner, d.fingerprint, d.event_type
        limit 1
    ) as next
    where step.number < :steps_max
      and (:owner::text is null
           or step.owner = :owner::text and (:fingerprint::text is null or step.fingerprint = :fingerprint::text))
),
cause as materialized (
    select owner, fingerprint, event_type
    from step
    where (:owner::text is null or owner = :owner::text)
      and (:event_types::text[] is null or event_type = any (:event_types::text[]))
      and (:fingerprint::text is null or fingerprint = :fingerprint::text)
),
bound as materialized (
    select least(10000, greatest(100, :letters_max / greatest(1, count(*))))::integer as letters,
           least(1000, greatest(20, :sample_max / greatest(1, count(*))))::integer as sample,
           (select count(*) from step) as steps
    from cause
),
shown as materialized (
    select cause.owner, counted.of_jobs, cause.event_type, sample.error_class, cause.fingerprint, counted.letters,
           first.buried_at as first_buried_at, sample.buried_at as last_buried_at, newest.keys, newest.tenants, newest.sample_id,
           sample.error as sample_error
    from cause
    cross join bound
    cross join lateral (
        select d.source = 'job' as of_jobs, count(*) as letters
        from (
            select l.source
            from /*schema*/dead_letter as l
            where l.resolution is null
              and (l.owner, l.fingerprint, l.event_type, l.id) >= (cause.owner, cause.fingerprint, cause.event_type, 0)
              and (l.owner, l.fingerprint, l.event_type, l.id) <= (cause.owner, cause.fingerprint, cause.event_type, 9223372036854775807)
            order by l.owner, l.fingerprint, l.event_type, l.id
            limit bound.letters
        ) as d
        where :sources::text[] is null or d.source = any (:sources::text[])
        group by d.source = 'job'
    ) as counted
    cross join lateral (
        select count(distinct k.key_hash) as keys, count(distinct coalesce(k.tenant_id, '')) as tenants, max(d.id) as sample_id
        from (
            select l.id, l.source
            from /*schema*/dead_letter as l
            where l.resolution is null
              and (l.owner, l.fingerprint, l.event_type, l.id) >= (cause.owner, cause.fingerprint, cause.event_type, 0)
              and (l.owner, l.fingerprint, l.event_type, l.id) <= (cause.owner, cause.fingerprint, cause.event_type, 9223372036854775807)
            order by l.owner desc, l.fingerprint desc, l.event_type desc, l.id desc
            limit bound.sample
        ) as d
        cross join lateral (select key_hash, tenant_id from /*schema*/dead_letter where id = d.id limit 1) as k
        where (d.source = 'job') = counted.of_jobs
    ) as newest
    cross join lateral (
        select l.buried_at
        from /*schema*/dead_letter as l
        where l.resolution is null
              and (l.owner, l.fingerprint, l.event_type, l.id) >= (cause.owner, cause.fingerprint, cause.event_type, 0)
              and (l.owner, l.fingerprint, l.event_type, l.id) <= (cause.owner, cause.fingerprint, cause.event_type, 9223372036854775807)
        order by l.owner, l.fingerprint, l.event_type, l.id
        limit 1
    ) as first
    join /*schema*/dead_letter as sample on sample.id = newest.sample_id
    order by counted.letters desc, newest.sample_id desc
    limit :limit
)
select bound.letters as letters_max, bound.sample as sample_max, bound.steps, shown.owner, shown.of_jobs, shown.event_type,
       shown.error_class, shown.fingerprint, shown.letters, shown.first_buried_at, shown.last_buried_at, shown.keys, shown.tenants,
       shown.sample_id, shown.sample_error
from bound
left join shown on true
order by shown.letters desc, shown.sample_id desc
