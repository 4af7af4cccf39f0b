-- Take note that messages were left out on purpose: nobody else is to bring them. For a subscription that is locked.
--   :name text   :to bigint, the last of them at most
update /*schema*/subscription
set inbox_after = greatest(inbox_after, :to)
where name = :name
