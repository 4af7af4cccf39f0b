-- For the rest of the transaction: join by hashes, and read the journal through its index from where it matters. The planner cannot
-- know how many dead letters a filter means; it would compare each of them with each entry of the journal.
select set_config('enable_nestloop', 'off', true) as enable_nestloop, set_config('enable_mergejoin', 'off', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_sort', 'off', true), set_config('jit', 'off', true), set_config('work_mem', '64MB', true)
