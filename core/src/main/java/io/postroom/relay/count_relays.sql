-- How many relays are alive, whatever they serve.
select count(*)::integer
from /*schema*/relay
where leased_until > clock_timestamp()
