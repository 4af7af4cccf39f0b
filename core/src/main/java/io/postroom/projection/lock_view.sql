-- The right to refresh a view, for the rest of the transaction; nobody waits for it.
--   :name text   :idle_millis text   :refresh_millis text
-- A process that vanishes in the middle would keep the view from all others: PostgreSQL ends its session when it has said nothing for
-- so long, and a refresh that takes longer than it may.
select set_config('idle_in_transaction_session_timeout', :idle_millis, true), set_config('statement_timeout', :refresh_millis, true),
       pg_try_advisory_xact_lock(hashtextextended('/*schema*/view ' || :name, 0)) as locked
