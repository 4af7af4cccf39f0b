-- Tell relays, when the transaction commits, that lanes are to be taken or given back.
--   :channel text
select pg_notify(:channel, 'lanes')
