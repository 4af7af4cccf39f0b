-- Whether somebody has made the partition for what ends tomorrow. Asks the catalogue for one name.
select to_regclass('/*schema*/job_done_' || to_char((clock_timestamp() at time zone 'utc')::date + 1, 'YYYYMMDD')) is not null
