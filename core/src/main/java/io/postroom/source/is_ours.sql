-- Whether the journal has a message at a position.
--   :position bigint   :id uuid
-- Index: the primary keys of the journal's partitions, the outbox's on seq.
select exists (
    select
    from /*schema*/journal as j
    cross join lateral /*schema*/message_at(j.seq, j.outbox_day) as o
    where j.position = :position and o.id = :id
)
