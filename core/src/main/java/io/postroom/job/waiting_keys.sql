-- The keys of a limit for whose turn jobs wait, in their order: one look-up each, however many jobs there are.
--   :name text   :after text, the last key that was looked at before   :limit int
-- Index: job_limited.
with recursive waiting (key) as (
    (
        select j.limit_key
        from /*schema*/job as j
        where j.waits = 'turn' and j.limit_name = :name and j.limit_key > :after
        order by j.limit_key
        limit 1
    )
    union all
    select (
        select j.limit_key
        from /*schema*/job as j
        where j.waits = 'turn' and j.limit_name = :name and j.limit_key > waiting.key
        order by j.limit_key
        limit 1
    )
    from waiting
    where waiting.key is not null
)
select key
from waiting
where key is not null
limit :limit
