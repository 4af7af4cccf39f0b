-- Note that a schedule fires at a time. No row: another node was first.
--   :schedule text   :fire_at timestamptz
-- Locks: whoever notes the same and has not committed is waited for. Index: the primary key, which decides.
insert into /*schema*/schedule_run (schedule, fire_at)
values (:schedule, :fire_at)
on conflict (schedule, fire_at) do nothing
