-- A page of what operators did, newest first.
--   :subject text?   :action text?   :actor text?   :from timestamptz?   :to timestamptz?, exclusive
--   :before bigint?, the last id of the page before   :limit int
-- By time, and by id where times are the same: so that a stretch of time is a stretch of an index, whoever and whatever is asked for.
-- Index: audit_subject, audit_action, audit_actor, or audit_at for everything.
select id, at, actor, role, action, subject, reason, details
from /*schema*/audit
where (:subject::text is null or subject = :subject::text)
  and (:action::text is null or action = :action::text)
  and (:actor::text is null or actor = :actor::text)
  and (:from::timestamptz is null or at >= :from::timestamptz)
  and (:to::timestamptz is null or at < :to::timestamptz)
  and (:before::bigint is null
       or (at, id) < ((select last.at from /*schema*/audit as last where last.id = :before::bigint), :before::bigint))
order by at desc, id desc
limit :limit
