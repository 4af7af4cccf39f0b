-- Take back the claims of deliveries that their lane has never heard of. For a lane that is locked. Index: delivery_sending.
--   :subscription text   :lane int   :in_hand bigint[], those it has heard of
update /*schema*/delivery
set state = 'waiting', due_at = statement_timestamp(), attempts = greatest(attempts - 1, 0), sending_since = null, sending_by = null, alone = false
where subscription = :subscription and lane = :lane and state = 'sending' and position <> all (:in_hand)
returning key_hash
