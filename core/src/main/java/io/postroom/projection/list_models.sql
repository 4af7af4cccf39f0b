-- Every read model that has a generation, with its age; that of one that was never made is how long it has been wanted, this time.
--   :name text?, one only, also one whose only generation was retired before it was made
select r.name, r.version, r.ignored, r.epoch, r.last_generation, r.rolled_back_from, r.created_at, r.freshness,
       coalesce(extract(epoch from coalesce(f.age, clock_timestamp() - wanted.since)), 0)::double precision as age,
       extract(epoch from r.freshness_limit)::double precision as age_max
from /*schema*/read_model as r
left join lateral /*schema*/freshness(r.name) as f on true
cross join lateral (select min(g.asked_at) as since from /*schema*/generation as g where g.read_model = r.name) as wanted
where case when :name::text is null
           then exists (select from /*schema*/generation as g where g.read_model = r.name)
           else r.name = :name::text
      end
order by r.name
