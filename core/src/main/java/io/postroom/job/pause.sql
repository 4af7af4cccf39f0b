-- Pause a queue, or leave it paused as it is: from now on nothing of it is claimed.
--   :name text   :actor text   :reason text
insert into /*schema*/job_queue as q (name, paused_at, paused_by, pause_reason)
values (:name, clock_timestamp(), :actor, :reason)
on conflict (name) do update
    set paused_at = excluded.paused_at, paused_by = excluded.paused_by, pause_reason = excluded.pause_reason
    where q.paused_at is null
