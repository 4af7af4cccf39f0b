-- Take the order that has been longest in a state to the next one.
--   :from text   :to text
-- Locks: the row, skipping locked ones. Index: orders_open.
update /*schema*/orders
set state = :to, version = version + 1, changed_at = clock_timestamp()
where id = (
    select id from /*schema*/orders where state = :from and state <> 'shipped' order by changed_at limit 1 for update skip locked
)
returning id, tenant_id, total_cents, version
