-- Logins that have one of some roles, directly or through others, and for which no right or policy holds.
--   :roles text[]
-- Catalogs only. A superuser has every role anyway: only membership that somebody gave counts.
with recursive held (member, role) as (
    select m.member, r.rolname::text
    from pg_auth_members as m
    join pg_roles as r on r.oid = m.roleid
    where r.rolname = any(:roles)
    union
    select m.member, held.role
    from held
    join pg_auth_members as m on m.roleid = held.member
)
select l.rolname::text as login, l.rolsuper, l.rolbypassrls, string_agg(distinct held.role, ', ' order by held.role) as roles
from held
join pg_roles as l on l.oid = held.member
where l.rolcanlogin and (l.rolsuper or l.rolbypassrls)
group by l.rolname, l.rolsuper, l.rolbypassrls
order by login
