-- The dead letter that a message became when an operator skipped it. Index: dead_letter_message, or dead_letter_position.
--   :name text   :message_id uuid?   :position bigint?
select id, position
from /*schema*/dead_letter
where owner = :name and source = 'subscription' and cause = 'skipped'
  and (:message_id::uuid is null or message_id = :message_id::uuid)
  and (:position::bigint is null or position = :position::bigint)
order by id desc
limit 1
