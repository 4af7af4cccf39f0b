-- Let rates have been used up earlier.
--   :by double precision, seconds
update /*schema*/job_rate
set used_until = used_until - make_interval(secs => :by)
