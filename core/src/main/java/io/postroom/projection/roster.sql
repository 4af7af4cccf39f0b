-- The generations of some read models, and how far each may go now.
--   :names text[]
select read_model, number, version, state, schema_name, ddl, began_after,
       case when hold_until > clock_timestamp() then hold_at end as hold_at
from /*schema*/generation
where read_model = any (:names)
order by read_model, number
