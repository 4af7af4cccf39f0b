-- Ask for a generation that was never made as a relay serves it now.
--   :read_model text   :number int   :version int   :began_after bigint
update /*schema*/generation
set version = :version, began_after = :began_after
where read_model = :read_model and number = :number and state = 'asked'
