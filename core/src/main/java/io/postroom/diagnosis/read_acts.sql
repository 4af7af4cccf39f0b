-- What operators did to the positions of a subscription since a time, the newest first. Index: audit_subject.
--   :subject text   :actions text[]   :since timestamptz   :limit int
select at, actor, action, reason
from /*schema*/audit
where subject = :subject and action = any (:actions) and at >= :since
order by id desc
limit :limit
