-- Why a generation could not be made, for whoever asked for it.
--   :read_model text   :number int   :error text
update /*schema*/generation
set error = :error
where read_model = :read_model and number = :number and state = 'asked' and error is distinct from :error
