-- The limits that jobs name which have not ended, in the order of their names: one look-up each, however many jobs there are.
--   :after text, the last name that was looked at before   :limit int
-- Index: job_limited.
with recursive used (name) as (
    (select limit_name from /*schema*/job where limit_name > :after order by limit_name limit 1)
    union all
    select (select j.limit_name from /*schema*/job as j where j.limit_name > used.name order by j.limit_name limit 1)
    from used
    where used.name is not null
)
select name
from used
where name is not null
limit :limit
