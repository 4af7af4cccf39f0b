-- What operators skipped of a subscription since a time, where that may have been a message's position; the newest first.
--   :subject text   :lane int   :position bigint   :since timestamptz   :limit int
-- Surely skipped only if lanes were neither counted anew after the skip nor moved back before it: else the lane had another number, or
-- had passed the message once. Index: audit_subject.
with act as materialized (
    select id, at, actor, action, reason, details
    from /*schema*/audit
    where subject = :subject and at >= :since and action in ('subscription skip', 'subscription lanes', 'subscription replay')
)
select a.at, a.actor, a.reason, not moved.otherwise as surely
from act as a
cross join lateral (
    select coalesce(bool_or(b.action = 'subscription lanes' and b.id > a.id or b.action = 'subscription replay' and b.id < a.id), false)
               as otherwise
    from act as b
) as moved
where a.action = 'subscription skip'
  and exists (
      select from jsonb_array_elements(case jsonb_typeof(a.details -> 'lanes') when 'array' then a.details -> 'lanes' end) as skipped
      where (skipped ->> 'from')::bigint < :position and (skipped ->> 'to')::bigint >= :position
        and ((skipped ->> 'lane')::integer = :lane or moved.otherwise)
  )
order by a.id desc
limit :limit
