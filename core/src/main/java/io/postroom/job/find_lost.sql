-- Lock jobs whose worker is dead: its lease has run out, or nobody knows it.
--   :limit int   :except bigint[], jobs that could not be rescued   :patience text, milliseconds, for our own process if it freezes
-- Who has jobs is found by one look-up for each worker, however many jobs it has or had. Compare and set: the rows are locked, skipping
-- locked ones, and read as they are then. Index: job_running, the primary key of worker.
with recursive holder (id) as (
    (select worker from /*schema*/job where state = 'running' order by worker limit 1)
    union all
    select (select j.worker from /*schema*/job as j where j.state = 'running' and j.worker > holder.id order by j.worker limit 1)
    from holder
    where holder.id is not null
)
select lost.id, lost.crashes, lost.begun, lost.cancel_asked, coalesce(w.name, 'unknown') as worker
from holder
left join /*schema*/worker as w on w.id = holder.id
cross join lateral (
    select j.id, j.crashes, not j.exact or j.begun_at is not null as begun, j.cancel_asked_at is not null as cancel_asked
    from /*schema*/job as j
    where j.state = 'running' and j.worker = holder.id and j.id <> all (:except::bigint[])
    order by j.deadline_at
    limit :limit
    for update skip locked
) as lost
where coalesce(w.leased_until < clock_timestamp(), true)
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
limit :limit
