-- Whether messages lie in the outbox's default partition.
select /*schema*/has_strays()
