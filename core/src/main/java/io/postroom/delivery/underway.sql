-- How many messages that a redrive has put back are still on their way.
--   :redrive uuid
-- Index: dead_letter_redrive, the primary key of delivery.
select count(*)
from /*schema*/dead_letter as d
join /*schema*/delivery as v on v.subscription = d.owner and v.position = d.position and v.dead_letter = d.id
where d.redrive = :redrive and d.source = 'subscription' and d.resolution = 'redriven'
