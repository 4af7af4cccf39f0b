-- Tell relays that there is something new among the generations. A hint only: whoever misses it finds out at the next beat.
--   :channel text
select pg_notify(:channel, 'lanes')
