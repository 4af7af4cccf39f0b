-- Ask for a redrive, unless it was asked for before: then nothing changes.
--   the parameters of deadletter/filter.sql
--   :id uuid   :action text   :filter text, JSON   :patch text?, JSON   :actor text   :reason text   :rate double precision?, a second
--   :canary int?   :id_max bigint?, what was buried later is not meant
insert into /*schema*/redrive (id, action, filter, patch, actor, reason, rate, canary, id_max, total)
select :id, :action, :filter::jsonb, :patch::json, :actor, :reason, :rate::double precision, :canary::integer,
       coalesce(max(d.id), 0), count(*)
from /*schema*/dead_letter as d
where d.resolution is null
  and (:id_max::bigint is null or d.id <= :id_max::bigint)
  /*filter*/
on conflict (id) do nothing
