-- Refresh a materialized view; readers go on meanwhile, but for the first time, when there is nothing to read yet.
--   :view text, quoted where it must be   :populated boolean, as text
select /*schema*/refresh_view(:view::regclass, :populated::boolean)
