-- The live generation of a read model is no longer.
--   :read_model text
update /*schema*/generation
set state = 'former'
where read_model = :read_model and state = 'live'
