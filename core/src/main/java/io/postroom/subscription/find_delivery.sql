-- The delivery of a message, by the message's id: in the outbox, in its archive, or in the dead letter it was redriven from.
--   :name text   :message_id uuid
-- Index: the primary key and, for each delivery, the unique one on seq that each partition of both has.
select v.position
from /*schema*/delivery as v
join /*schema*/outbox as m on m.seq = v.seq and m.day = v.outbox_day
where v.subscription = :name and v.dead_letter is null and m.id = :message_id
union all
select v.position
from /*schema*/delivery as v
join /*schema*/outbox_archive as m on m.seq = v.seq and m.day = v.outbox_day
where v.subscription = :name and v.dead_letter is null and m.id = :message_id
union all
select v.position
from /*schema*/dead_letter as d
join /*schema*/delivery as v on v.subscription = d.owner and v.position = d.position and v.dead_letter = d.id
where d.message_id = :message_id and d.owner = :name
limit 1
