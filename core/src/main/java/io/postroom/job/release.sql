-- Let jobs go on that have waited for others and need nothing more: to wait for their time, for their turn, or for nothing.
--   :ids bigint[]
-- For whoever has the lock of lock_needs.sql. Index: the primary key, job_need_job.
update /*schema*/job as j
set waits = case when j.run_at > clock_timestamp() then 'time' when j.limit_name is not null then 'turn' end, turn = default
where j.id = any (:ids::bigint[]) and j.waits = 'jobs' and not exists (select from /*schema*/job_need as n where n.job_id = j.id)
