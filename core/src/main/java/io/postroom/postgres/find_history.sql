-- Whether the record of migrations is there.
--   :table text, its name with the schema
select to_regclass(:table) is not null
