-- Ask relays to give back the lanes of a subscription for a while. Ends by itself if whoever asked goes away.
--   :name text   :seconds double precision
update /*schema*/subscription
set drain_until = clock_timestamp() + make_interval(secs => :seconds)
where name = :name
