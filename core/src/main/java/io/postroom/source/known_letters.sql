-- Which of some messages are dead letters of a consumer already, open, discarded or redriven with another payload: they are an
-- operator's, not the source's.
--   :consumer text   :message_ids uuid[]
-- Index: dead_letter_message.
select d.message_id
from /*schema*/dead_letter as d
where d.message_id = any (:message_ids) and d.owner = :consumer
  and (d.resolution is null or d.resolution = 'discarded' or d.patched is not null)
