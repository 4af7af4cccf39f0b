-- Begin a batch; answers with its id.
--   :name text
insert into /*schema*/job_batch (name)
values (:name)
returning id
