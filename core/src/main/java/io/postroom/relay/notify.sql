-- Tell other relays that the journal has moved, or that lanes are to be shared anew. A hint only: whoever misses it finds out
-- at the next poll or beat.
--   :channel text   :what text, journal or lanes
select pg_notify(:channel, :what)
