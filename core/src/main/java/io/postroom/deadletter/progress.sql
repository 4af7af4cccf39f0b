-- Note how far a redrive came. For one whose row is locked.
--   :id uuid   :reached bigint   :done bigint, in this step   :skipped bigint, in this step   :skips text, JSON, in all
--   :state text   :note text?
update /*schema*/redrive
set reached = :reached, done = done + :done, skipped = skipped + :skipped, skips = :skips::jsonb, state = :state, note = :note,
    began_at = coalesce(began_at, clock_timestamp()),
    paced_to = case when rate is not null
                    then greatest(coalesce(paced_to, '-infinity'), clock_timestamp() - make_interval(secs => greatest(1, 1 / rate)))
                         + make_interval(secs => :done / rate)
               end,
    canary_at = case when :state = 'canary' then coalesce(canary_at, clock_timestamp()) else canary_at end,
    ended_at = case when :state in ('done', 'stopped') then clock_timestamp() end
where id = :id
