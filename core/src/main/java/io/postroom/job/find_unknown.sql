-- Jobs that this worker has claimed without knowing, because the answer to the claim was lost, and whether they are to be cancelled.
--   :worker uuid   :ids bigint[], what it knows of, in ascending order   :fences bigint[], of these   :limit int
--   :patience text, milliseconds, for our own process if it freezes
-- For the thread that claims, while it does not: an older claim of the same job that it knows of is another. Fences are found in the
-- arrays by halving, without a join. Those over their deadline are the reapers' to take: so entries of jobs that ended long ago, which an old
-- snapshot keeps in the index, are not read. Locks: the rows, skipping locked ones. Index: job_running.
select j.id, j.cancel_asked_at is not null as cancel_asked
from /*schema*/job as j
where j.state = 'running' and j.worker = :worker and j.deadline_at >= (select clock_timestamp())
  and not coalesce((:ids::bigint[])[width_bucket(j.id, :ids::bigint[])] = j.id
                   and (:fences::bigint[])[width_bucket(j.id, :ids::bigint[])] = j.fence, false)
  and (select set_config('idle_in_transaction_session_timeout', :patience, true)) is not null
order by j.deadline_at desc
limit :limit
for update skip locked
