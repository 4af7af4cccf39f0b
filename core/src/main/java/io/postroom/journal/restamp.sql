-- Make the journal whole in a cluster that did not stamp it.
-- A process that freezes before the commit would keep everybody from stamping: PostgreSQL ends its session instead.
select restamped, last_position, set_config('idle_in_transaction_session_timeout', '10000', true)
from /*schema*/restamp()
