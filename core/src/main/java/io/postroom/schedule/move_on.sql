-- Set when a schedule fires next, if nobody has done so before.
--   :name text   :seen timestamptz, when it was to fire   :next_at timestamptz?   :last_at timestamptz?   :last_job bigint?
update /*schema*/schedule
set next_at = :next_at, last_at = coalesce(:last_at::timestamptz, last_at), last_job = coalesce(:last_job::bigint, last_job)
where name = :name and next_at = :seen
