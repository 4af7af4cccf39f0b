-- Live relays, readers by position, and the server's WAL for each second since its statistics were reset.
-- Views of the server and small tables.
select (select count(*) from /*schema*/relay where leased_until > clock_timestamp())::integer as relays,
       (select count(distinct consumer) from /*schema*/consumer_offset)::integer as readers,
       coalesce((select wal_bytes / greatest(1, extract(epoch from clock_timestamp() - stats_reset)) from pg_stat_wal), 0)::double precision
           as wal_rate
