-- Forget where the lanes were before their number changed, once all are beyond.
--   :name text
update /*schema*/subscription as s
set former_positions = null
where s.name = :name and s.former_positions is not null
  and not exists (
      select from /*schema*/lane as l
      where l.subscription = s.name and l.position < (select max(former) from unnest(s.former_positions) as former)
  )
