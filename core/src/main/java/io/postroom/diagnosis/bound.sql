-- Bound every statement of this transaction, and tell the time.
--   :timeout text, milliseconds
-- Plans are made for the values: one for all values waits for whoever has locked any partition. No parallel workers: a question is not
-- to take the machine from those who work.
select clock_timestamp() as now, set_config('statement_timeout', :timeout, true), set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
