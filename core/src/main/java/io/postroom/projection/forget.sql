-- A generation is no more. Its number is not given again.
--   :read_model text   :number int
delete from /*schema*/generation
where read_model = :read_model and number = :number
