-- The time that counts.
select clock_timestamp()
