-- Lock jobs of workers that nobody knows: a claim that was committed after its worker had said goodbye, or a row that somebody has deleted.
--   :limit int   :except bigint[], jobs that could not be rescued   :patience text, milliseconds, for our own process if it freezes
-- Nothing is read of workers that are known: one look-up in each gap between their ids, which finds the first of that gap. A worker says that
-- it lives before it claims: whoever sees the claim sees the worker. Compare and set: the rows are locked, skipping locked ones, and
-- read as they are then. Index: job_running. :except as in find_lost.sql.
with gap as (
    select id as after, lead(id, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff') over (order by id) as before
    from (select '00000000-0000-0000-0000-000000000000'::uuid as id union select id from /*schema*/worker) as known
)
select lost.id, lost.crashes, lost.begun, lost.cancel_asked, 'unknown' as worker
from gap
cross join lateral (
    select j.worker as id
    from /*schema*/job as j
    where j.state = 'running' and j.worker > gap.after and j.worker < gap.before and j.id not in (select unnest(:except::bigint[]))
    order by j.worker, j.deadline_at
    limit 1
) as stray
cross join lateral (
    select j.id, j.crashes, not j.exact or j.begun_at is not null as begun, j.cancel_asked_at is not null as cancel_asked
    from /*schema*/job as j
    where j.state = 'running' and j.worker = stray.id and j.id not in (select unnest(:except::bigint[]))
    order by j.deadline_at
    limit :limit
    for update skip locked
) as lost
where (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
limit :limit
