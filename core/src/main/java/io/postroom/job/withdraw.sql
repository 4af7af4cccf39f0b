-- Say goodbye. For a worker that knows of no job that it has: if it has one nevertheless, it is found as a stray.
--   :id uuid
delete from /*schema*/worker where id = :id
