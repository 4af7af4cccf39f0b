-- Tell relays that lanes are to be shared anew. A hint only: whoever misses it finds out at the next beat.
--   :channel text
select pg_notify(:channel, 'lanes')
