-- The dead letter that a message became when an operator skipped it. Index: dead_letter_message.
--   :name text   :message_id uuid
select id
from /*schema*/dead_letter
where message_id = :message_id and owner = :name and source = 'subscription' and cause = 'skipped'
order by id desc
limit 1
