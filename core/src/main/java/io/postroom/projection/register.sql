-- Make a read model, or bring what a release may change of it up to date; of two versions the newer one has the say.
--   :name text   :freshness text   :freshness_limit double precision, seconds   :version int   :ignored text[]
insert into /*schema*/read_model as existing (name, freshness, freshness_limit, version, ignored)
values (:name, :freshness, make_interval(secs => :freshness_limit), :version, :ignored)
on conflict (name) do update
    set freshness = excluded.freshness, freshness_limit = excluded.freshness_limit, ignored = excluded.ignored, version = excluded.version
    where excluded.version >= existing.version
