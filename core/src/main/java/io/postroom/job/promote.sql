-- Let jobs be claimed whose time has come, each with a new turn; one with a limit waits for that. Answers with how many, and the last of
-- their times.
--   :since timestamptz?, times before it are passed over   :limit int
-- While somebody holds an old snapshot, what was let go stays in the index as dead entries, all of them at its front: :since passes them.
-- Whoever gives it must look from the beginning now and then, for those who committed late.
-- Locks: the rows, skipping locked ones. Index: job_due; in queries of their own the times are values, which an index can be searched for.
with due as materialized (
    select id, run_at
    from /*schema*/job
    where waits = 'time' and run_at >= (select coalesce(:since::timestamptz, '-infinity')) and run_at <= (select clock_timestamp())
    order by run_at
    limit :limit
    for update skip locked
),
let_go as (
    update /*schema*/job as j
    set waits = case when j.limit_name is not null then 'turn' end, turn = default
    where j.id = any (array(select due.id from due))
)
select count(*) as jobs, max(due.run_at) as last_at from due
