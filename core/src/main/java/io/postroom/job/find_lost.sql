-- Lock jobs of workers whose lease has run out. Those over their deadline are left to find_overdue.
--   :limit int   :except bigint[], jobs that could not be rescued   :patience text, milliseconds, for our own process if it freezes
-- Nothing is read of workers that live, nor of jobs that ended long ago: an old snapshot keeps their entries in the index, before those of
-- the others. Compare and set: the rows are locked, skipping locked ones, and read as they are then. Index: job_running.
-- :except is a query of its own, whose answers are hashed: there may be very many.
select lost.id, lost.crashes, lost.begun, lost.cancel_asked, w.name as worker
from /*schema*/worker as w
cross join lateral (
    select j.id, j.crashes, not j.exact or j.begun_at is not null as begun, j.cancel_asked_at is not null as cancel_asked
    from /*schema*/job as j
    where j.state = 'running' and j.worker = w.id and j.deadline_at >= (select clock_timestamp()) and j.id not in (select unnest(:except::bigint[]))
    order by j.deadline_at desc
    limit :limit
    for update skip locked
) as lost
where w.leased_until < clock_timestamp()
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
limit :limit
