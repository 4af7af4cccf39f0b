-- Let a job whose row is locked and that waits for its time wait no longer. No row: it waits for something else.
--   :id bigint
-- Index: the primary key.
update /*schema*/job
set waits = case when limit_name is not null then 'turn' end, run_at = clock_timestamp(), turn = default
where id = :id and waits = 'time'
