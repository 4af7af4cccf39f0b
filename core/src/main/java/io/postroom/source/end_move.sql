-- End a move. No row: it has ended.
--   :id bigint   :outcome text
update /*schema*/subscription_move
set ended_at = clock_timestamp(), outcome = :outcome
where id = :id and ended_at is null
