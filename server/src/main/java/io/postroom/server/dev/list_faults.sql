-- What of the demo is broken, or shall be.
select name from /*schema*/faults
