-- Every read model, with its age.
--   :name text?, one only
select r.name, r.version, r.ignored, r.epoch, r.last_generation, r.rolled_back_from, r.created_at, r.freshness,
       extract(epoch from f.age)::double precision as age, extract(epoch from r.freshness_limit)::double precision as age_max
from /*schema*/read_model as r
cross join lateral /*schema*/freshness(r.name) as f
where :name::text is null or r.name = :name::text
order by r.name
