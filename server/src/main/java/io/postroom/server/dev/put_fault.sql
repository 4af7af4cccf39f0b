-- Break something of the demo, unless it is broken.
--   :name text
insert into /*schema*/faults (name) values (:name) on conflict (name) do nothing
