-- Keep those who begin a batch after the swap, and see it, waiting until it is over in every respect; see await_swap.
--   :read_model text   :patience text, milliseconds
select set_config('lock_timeout', :patience, true),
       pg_advisory_xact_lock(hashtextextended('/*schema*/swap ' || :read_model, 0))
