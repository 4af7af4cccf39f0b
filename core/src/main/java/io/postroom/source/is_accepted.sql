-- Whether a message has taken effect for a consumer.
--   :consumer text   :message_id uuid
-- Index: the primary key of the inbox, in each partition.
select exists (select from /*schema*/inbox where message_id = :message_id and consumer = :consumer)
