-- Names mean other tables from here on: batches that began before are done again.
--   :read_model text   :rolled_back_from int?
update /*schema*/read_model
set epoch = epoch + 1, rolled_back_from = :rolled_back_from::integer
where name = :read_model
returning epoch
