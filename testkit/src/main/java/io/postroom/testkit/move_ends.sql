-- Let jobs have ended earlier.
--   :by double precision, seconds
update /*schema*/job_done
set ended_at = ended_at - make_interval(secs => :by)
