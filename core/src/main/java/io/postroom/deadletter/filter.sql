-- Whether a dead letter, d, fits a filter: the part of a statement that stands where it says filter in a comment.
--   :owner text?   :sources text[]?   :event_types text[]?   :tenants text[]?   :aggregate_type text?   :aggregate_id text?   :error_class text?
--   :fingerprint text?   :cause text?   :ids bigint[]?   :buried_from timestamptz?   :buried_to timestamptz?, exclusive
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
