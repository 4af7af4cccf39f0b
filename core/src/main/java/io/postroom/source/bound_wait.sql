-- Wait no longer than this for any lock of the transaction.
--   :millis text
select set_config('lock_timeout', :millis, true)
