-- Deliveries that went through. For a lane that is locked. Index: the primary key.
--   :subscription text   :positions bigint[]
delete from /*schema*/delivery
where subscription = :subscription and position = any (:positions)
