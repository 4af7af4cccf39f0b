-- Lock jobs that their workers should have ended long ago, whether these live or not.
--   :within double precision, seconds that the deadline is over at most
--   :limit int   :except bigint[], jobs that could not be rescued   :patience text, milliseconds, for our own process if it freezes
-- Whoever has looked a moment ago need not read again what it has read: an old snapshot keeps entries of jobs that have ended in the index.
-- Locks: the rows, skipping locked ones. Index: job_running, of each worker from that deadline on. :except as in find_lost.sql.
select late.id, late.crashes, late.begun, late.cancel_asked, w.name as worker
from /*schema*/worker as w
cross join lateral (
    select j.id, j.crashes, not j.exact or j.begun_at is not null as begun, j.cancel_asked_at is not null as cancel_asked
    from /*schema*/job as j
    where j.state = 'running' and j.worker = w.id and j.deadline_at < (select clock_timestamp())
      and j.deadline_at >= (select clock_timestamp() - make_interval(secs => :within))
      and j.id not in (select unnest(:except::bigint[]))
    order by j.deadline_at
    limit :limit
    for update skip locked
) as late
where (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
limit :limit
