-- Connections in use and how many ordinary logins may have; live relays.
-- Views of the server and a small table.
select (select coalesce(sum(numbackends), 0) from pg_stat_database)::integer as used,
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
       - coalesce(current_setting('reserved_connections', true), '0')::integer as room,
       (select count(*) from /*schema*/relay where leased_until > clock_timestamp())::integer as relays
