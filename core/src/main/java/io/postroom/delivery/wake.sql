-- Tell relays that deliveries are due. A hint only: whoever misses it finds out at the next poll.
--   :channel text
select pg_notify(:channel, 'deliveries')
