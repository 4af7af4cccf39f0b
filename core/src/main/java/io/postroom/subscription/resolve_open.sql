-- Discard every open dead letter of a subscription. For lanes that are locked. Index: dead_letter_list.
--   :name text   :actor text
update /*schema*/dead_letter
set resolution = 'discarded', resolved_at = clock_timestamp(), resolved_by = :actor
where owner = :name and source in ('subscription', 'kafka') and resolution is null
