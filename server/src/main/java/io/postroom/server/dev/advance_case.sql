-- Take the case that has been longest in a state to the next one.
--   :from text   :to text
-- Locks: the row, skipping locked ones. Index: cases_open.
update /*schema*/cases
set state = :to, version = version + 1, changed_at = clock_timestamp()
where id = (
    select id from /*schema*/cases where state = :from and state <> 'closed' order by changed_at limit 1 for update skip locked
)
returning id, tenant_id, subject, version
