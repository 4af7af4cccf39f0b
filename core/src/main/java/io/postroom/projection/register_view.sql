-- Have a materialized view refreshed every so often; another interval counts from the last refresh.
--   :name text   :every double precision, seconds
insert into /*schema*/materialized_view as existing (name, every)
values (:name, make_interval(secs => :every))
on conflict (name) do update
    set every = excluded.every,
        due_at = case when existing.every = excluded.every then existing.due_at
                      else least(existing.due_at, coalesce(existing.refreshed_at, existing.created_at) + excluded.every)
                 end
