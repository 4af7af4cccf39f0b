-- Ask for a generation that was never made as a relay serves it now; it begins where an operator has said, if one has.
--   :read_model text   :number int   :version int   :began_after bigint
update /*schema*/generation
set version = :version, began_after = case when asked_by = 'relay' then :began_after else began_after end
where read_model = :read_model and number = :number and state = 'asked'
