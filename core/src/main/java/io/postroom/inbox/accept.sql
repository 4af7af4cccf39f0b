-- Accept messages for a consumer; answers for each with first, duplicate or conflict, in the order of the arrays.
--   :consumer text   :message_ids uuid[]   :payload_hashes bytea[], as many
-- Locks: waits for other transactions that have accepted one of them and are not over. Index: the primary key of the inbox.
select /*schema*/accept(:consumer, :message_ids, :payload_hashes)
