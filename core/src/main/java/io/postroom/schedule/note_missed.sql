-- Note that times of a schedule are left out, because nobody saw them.
--   :schedule text   :fire_at timestamptz, the first of them   :missed bigint, how many
-- Index: the primary key, which decides: whoever ran it at that very time stays.
insert into /*schema*/schedule_run (schedule, fire_at, skipped, missed)
values (:schedule, :fire_at, true, :missed)
on conflict (schedule, fire_at) do nothing
