-- How many messages that a redrive has put back wait for their consumers.
--   :redrive uuid
-- Index: dead_letter_redrive.
select count(*)
from /*schema*/dead_letter as d
join /*schema*/redriven_letter as r on r.dead_letter = d.id
where d.redrive = :redrive
