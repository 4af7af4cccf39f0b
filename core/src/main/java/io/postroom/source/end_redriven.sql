-- A redriven dead letter has taken effect, or is buried again.
--   :dead_letter bigint
delete from /*schema*/redriven_letter
where dead_letter = :dead_letter
