-- Let schedules be due sooner.
--   :by double precision, seconds
update /*schema*/schedule
set next_at = next_at - make_interval(secs => :by)
