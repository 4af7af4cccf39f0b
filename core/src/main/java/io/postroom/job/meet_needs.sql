-- Strike off what has ended as it should, and answers with the jobs that have waited for it; also with those that are to be cancelled,
-- because what they need was. Jobs that somebody else has locked are left for another time; what a job has left behind that is gone is
-- struck off too.
--   :of_batch text, a boolean   :needs bigint[]   :ended text[], of these   :limit int
-- For whoever has the lock of lock_needs.sql. Locks: the rows of these jobs, skipping locked ones. Rows of needs are found again by where
-- they lie: nobody else changes them. Limits inside keep the planner to one look-up for each. Index: the primary keys.
with met as materialized (
    select n.at
    from unnest(:needs::bigint[], :ended::text[]) as e (need, ended)
    cross join lateral (
        select w.ctid as at, w.job_id
        from /*schema*/job_need as w
        where w.of_batch = :of_batch::boolean and w.need = e.need and (w.any_end or e.ended in ('done', 'cancelled'))
        order by w.job_id
        limit :limit
    ) as n
    cross join lateral (select j.id from /*schema*/job as j where j.id = n.job_id limit 1 for update skip locked) as locked
    limit :limit
),
left_behind as materialized (
    select n.at
    from unnest(:needs::bigint[]) as e (need)
    cross join lateral (
        select w.ctid as at
        from /*schema*/job_need as w
        where w.of_batch = :of_batch::boolean and w.need = e.need
          and (select true from /*schema*/job as j where j.id = w.job_id limit 1) is null
        limit :limit
    ) as n
    limit :limit
)
delete from /*schema*/job_need as n
where n.ctid = any (array(select met.at from met union all select left_behind.at from left_behind))
returning n.job_id,
          not n.any_end and (:ended::text[])[array_position(:needs::bigint[], n.need)] = 'cancelled'
              and (select true from /*schema*/job as j where j.id = n.job_id and j.waits = 'jobs' limit 1) is not null as cancelled
