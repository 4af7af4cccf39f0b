-- Begin a batch of a generation: from here on, in this transaction, plain names mean its tables. No row: it was retired.
--   :read_model text   :number int
-- What the schema is called and the epoch come from one snapshot; whether the names still mean the same at the end, the epoch tells.
-- Index: the primary keys.
select r.epoch, g.schema_name, to_regnamespace(quote_ident(g.schema_name)) is not null as present,
       set_config('search_path', quote_ident(g.schema_name) || coalesce(', ' || nullif(current_setting('search_path'), ''), ''), true)
from /*schema*/generation as g
join /*schema*/read_model as r on r.name = g.read_model
where g.read_model = :read_model and g.number = :number
