-- Make sure of a lease for the rest of the transaction. No row: somebody else has taken it.
--   :name text   :holder uuid   :fence bigint   :idle double precision, seconds   :idle_millis text, the same
-- Locks: the row for key share: it can be renewed meanwhile (that changes no key), but not taken, which asks for the whole row.
-- A process that stands still in the middle of the transaction would keep it for ever: PostgreSQL ends its session instead.
-- Index: lease_pkey.
select case when current_setting('idle_in_transaction_session_timeout')::interval = interval '0'
                 or current_setting('idle_in_transaction_session_timeout')::interval > make_interval(secs => :idle)
            then set_config('idle_in_transaction_session_timeout', :idle_millis, true) end as idle
from /*schema*/lease
where name = :name and holder = :holder and fence = :fence
for key share
