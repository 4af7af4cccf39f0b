-- Whether a tail has deliveries that are on their way or may be by now: what was scheduled and has come due, what a killed tail left.
--   :subscription text
-- Only asked while the tail is quiet. Index: delivery_due, delivery_sending; a tail has one lane.
select exists (
    select 1
    from /*schema*/delivery
    where subscription = :subscription and lane = 0 and due_at <= clock_timestamp()
) or exists (
    select 1
    from /*schema*/delivery
    where subscription = :subscription and lane = 0 and state = 'sending'
)
