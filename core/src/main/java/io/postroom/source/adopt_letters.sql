-- Let the open dead letters of a subscription be redriven by whoever serves it now: those with a position of the journal.
--   :name text   :from_source text   :to_source text
update /*schema*/dead_letter
set source = :to_source
where owner = :name and source = :from_source and resolution is null and position < 4611686018427387904
