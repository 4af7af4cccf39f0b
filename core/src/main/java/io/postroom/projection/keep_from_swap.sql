-- Let nobody swap a read model for the rest of the transaction; nobody waits for it. False: somebody does just now.
--   :read_model text
select pg_try_advisory_xact_lock_shared(hashtextextended('/*schema*/swap ' || :read_model, 0))
