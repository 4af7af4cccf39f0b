-- Forget workers that have been dead for long. A job that could not be taken from one, because it was locked say, is found as a stray.
--   :kept double precision, seconds
delete from /*schema*/worker where leased_until < clock_timestamp() - make_interval(secs => :kept)
