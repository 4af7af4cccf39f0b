-- Whether the journal's archive has a message at a position, as is_ours.sql asks the journal.
--   :position bigint   :id uuid   :first_day date   :last_day date, the archived days of this position
-- Index: the unique one on position that each partition has, the outbox's on seq.
select exists (
    select
    from /*schema*/journal_archive as j
    cross join lateral /*schema*/message_at(j.seq, j.outbox_day) as o
    where j.position = :position and j.day between :first_day and :last_day and o.id = :id
)
