-- Lock a read model for the rest of the transaction: its generations are made, swapped and retired one after the other.
--   :name text
-- Before subscriptions and lanes, always. A process that freezes between two statements would keep the lock from everybody: PostgreSQL
-- ends its session instead.
select name, version, epoch, last_generation, rolled_back_from, set_config('idle_in_transaction_session_timeout', '30000', true)
from /*schema*/read_model
where name = :name
for update
