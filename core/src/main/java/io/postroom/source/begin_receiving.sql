-- Take note that a consumer begins to receive, once and for all. For one that has declared how long its messages are remembered.
--   :consumer text
update /*schema*/inbox_consumer
set receives_since = clock_timestamp()
where consumer = :consumer and receives_since is null
