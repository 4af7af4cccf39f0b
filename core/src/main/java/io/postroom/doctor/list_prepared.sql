-- Prepared transactions of this database that are older than a time, the oldest first.
--   :seconds double precision   :limit int
-- Views of the server only.
select gid, owner::text as login, extract(epoch from clock_timestamp() - prepared)::double precision as seconds
from pg_prepared_xacts
where prepared < clock_timestamp() - make_interval(secs => :seconds) and database = current_database()
order by prepared
limit :limit
