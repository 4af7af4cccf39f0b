-- Begin a transaction in which a source applies messages; says who serves the subscription of its name, null if there is none.
--   :consumer text   :deadline text, milliseconds
-- Locks: the subscription's row, shared, so that it is not moved until the transaction ends. Whatever the projection waits for ends
-- with the deadline, also when its process freezes: PostgreSQL ends the statement, or the session.
select (select s.served_by from /*schema*/subscription as s where s.name = :consumer for share) as served_by,
       set_config('statement_timeout', :deadline, true),
       set_config('idle_in_transaction_session_timeout', :deadline, true)
