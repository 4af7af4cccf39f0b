-- Let this relay try what the last one could not read. For a lane that is locked. Index: delivery_sending.
--   :subscription text   :lane int
update /*schema*/delivery
set state = 'waiting', due_at = clock_timestamp()
where subscription = :subscription and lane = :lane and state = 'unreadable'
returning key_hash
