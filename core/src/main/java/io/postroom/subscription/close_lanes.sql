-- Do away with lanes that are too many. For lanes that are locked and that no live relay has.
--   :name text   :lanes int, how many stay
delete from /*schema*/lane
where subscription = :name and lane >= :lanes
