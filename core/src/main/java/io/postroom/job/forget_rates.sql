-- Forget rates that were used up long ago, among the next ones in order: no row means that nothing was used. Answers with the last one
-- that it has looked at, and how many these were; no row if there is none.
--   :after_name text   :after_key text   :limit int, how many are looked at   :kept double precision, seconds; longer than any limit reckons
-- There may be millions of them, and an index on a time that changes with every job would cost more than looking through them bit by
-- bit. Locks: the rows, skipping locked ones. Index: the primary key; then rows are found by where they lie.
with looked as materialized (
    select ctid as place, limit_name, limit_key, used_until
    from /*schema*/job_rate
    where (limit_name, limit_key) > (:after_name, :after_key)
    order by limit_name, limit_key
    limit :limit
),
old as materialized (
    select r.ctid as place
    from /*schema*/job_rate as r
    where r.ctid = any (array(select looked.place from looked
                              where looked.used_until < (select clock_timestamp() - make_interval(secs => :kept))))
      and r.used_until < (select clock_timestamp() - make_interval(secs => :kept))
    for update skip locked
),
gone as (
    delete from /*schema*/job_rate as r
    where r.ctid = any (array(select old.place from old))
)
select limit_name, limit_key, (select count(*) from looked) as looked
from looked
order by limit_name desc, limit_key desc
limit 1
