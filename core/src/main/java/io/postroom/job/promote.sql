-- Let jobs be claimed whose time has come, each with a new turn; one with a limit waits for that. Answers with how many.
--   :limit int
-- Locks: the rows, skipping locked ones. Index: job_due; in a query of its own the time is one value, which an index can be searched for.
with due as materialized (
    select id
    from /*schema*/job
    where waits = 'time' and run_at <= (select clock_timestamp())
    order by run_at
    limit :limit
    for update skip locked
)
update /*schema*/job as j
set waits = case when j.limit_name is not null then 'turn' end, turn = default
where j.id = any (array(select due.id from due))
