-- The limits for whose turn jobs wait, in the order of their names: one look-up each, however many jobs there are.
--   :after text, the last name that was looked at before   :limit int
-- Index: job_limited.
with recursive waiting (name) as (
    (select limit_name from /*schema*/job where waits = 'turn' and limit_name > :after order by limit_name limit 1)
    union all
    select (
        select j.limit_name
        from /*schema*/job as j
        where j.waits = 'turn' and j.limit_name > waiting.name
        order by j.limit_name
        limit 1
    )
    from waiting
    where waiting.name is not null
)
select name
from waiting
where name is not null
limit :limit
