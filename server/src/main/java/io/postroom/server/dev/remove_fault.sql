-- Mend something of the demo.
--   :name text
delete from /*schema*/faults where name = :name
