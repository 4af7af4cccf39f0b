-- How fresh read models are.
--   :names text[]
select n.name, f.freshness, extract(epoch from f.age)::double precision as age, extract(epoch from f.age_max)::double precision as age_max
from unnest(:names::text[]) as n (name)
cross join lateral /*schema*/freshness(n.name) as f
