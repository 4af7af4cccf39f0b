-- A view is no longer kept. It stays as it is.
--   :name text
delete from /*schema*/materialized_view
where name = :name
