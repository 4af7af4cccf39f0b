-- Open dead letters of sources that fit a filter and are to be redriven before some that were found: of the same keys, with lower turns. Only
-- where one of them was buried after all that go together now; those are applied in order. A page, by turn.
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
--   :found bigint[]   :after bigint, exclusive   :last bigint, of those that go together   :up_to bigint
--   :past bigint, the last id of the page before, or 0   :limit int
-- Of a key with many it is enough to look at :limit, as for those of the journal. Index: the primary key, dead_letter_turn.
with key_of_found as materialized (
    select d.owner, d.key_hash, max(d.turn) as turn
    from /*schema*/dead_letter as d
    where d.id = any (:found::bigint[])
    group by d.owner, d.key_hash
),
earlier as materialized (
    select e.id, e.turn, bool_or(e.id > :last) over (partition by k.owner, k.key_hash) as late
    from key_of_found as k
    cross join lateral (
        select d.id, d.turn
        from /*schema*/dead_letter as d
        where d.resolution is null and d.source = 'kafka' and d.owner = k.owner and d.key_hash = k.key_hash
          and d.turn < k.turn and d.id > :after and d.id <= :up_to
          and (d.turn, d.id)
              > (coalesce((select past.turn from /*schema*/dead_letter as past where past.id = :past::bigint), -1), :past::bigint)
          and (:owner::text is null or d.owner = :owner::text)
          and (:sources::text[] is null or d.source = any (:sources::text[]))
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
        order by d.turn, d.id
        limit :limit
    ) as e
)
select id
from earlier
where late
order by turn, id
limit :limit
