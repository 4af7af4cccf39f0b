-- A page of what operators did, newest first.
--   :subject text?, of this one only   :before bigint?, the last id of the page before   :limit int
-- Index: audit_subject, or the primary key for everything.
select id, at, actor, role, action, subject, reason, details
from /*schema*/audit
where (:subject::text is null or subject = :subject::text)
  and (:before::bigint is null or id < :before::bigint)
order by id desc
limit :limit
