-- Whether the outbox's default partition has messages: nobody made their day's partition in time.
select /*schema*/has_strays()
