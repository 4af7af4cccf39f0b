-- A relay says goodbye; with it go those that have not been heard of for a day.
--   :id uuid
delete from /*schema*/relay
where id = :id or leased_until < clock_timestamp() - interval '1 day'
