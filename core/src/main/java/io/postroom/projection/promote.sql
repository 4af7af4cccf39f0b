-- Another generation is the live one.
--   :read_model text   :number int   :replaced int?
update /*schema*/generation
set state = 'live', live_at = clock_timestamp(), replaced = :replaced::integer
where read_model = :read_model and number = :number
