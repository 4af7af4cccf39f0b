-- A destination is well again.
--   :subscription text   :relay_id uuid
delete from /*schema*/circuit
where subscription = :subscription and relay = :relay_id
